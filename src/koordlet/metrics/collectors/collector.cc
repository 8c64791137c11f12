#include "koordlet/metrics/collectors/collector.h"

#include "base/log.h"

namespace koord::koordlet {

void Collector::Complain(std::string_view object, const Status& status) {
  // Pods vanish all the time, and what a kernel lacks it lacks.
  if (absl::IsNotFound(status) || absl::IsUnimplemented(status)) return;
  if (!complaints_.IsNew(object, name(), Message(status))) return;
  LOG_WARNING("Cannot measure", {"collector", name()}, {"object", object}, {"err", status});
}

StatusOr<std::string_view> KeptFile::Read(const Cgroups& cgroups, CgroupFile file,
                                          std::string_view dir, std::string& buffer) {
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, cgroups.Open(file, dir));
  }
  auto text = file_->Read(buffer);
  if (!text.ok()) file_.reset();  // its directory may have been made anew
  return text;
}

StatusOr<std::string_view> KeptPath::Read(const FileTree& tree, std::string& buffer) {
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, tree.Open(path_));
  }
  auto text = file_->Read(buffer);
  if (!text.ok()) file_.reset();
  return text;
}

}  // namespace koord::koordlet
