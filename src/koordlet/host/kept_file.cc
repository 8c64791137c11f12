#include "koordlet/host/kept_file.h"

#include <utility>

namespace koord::koordlet {

StatusOr<std::string_view> KeptFile::Read(const Cgroups& cgroups, CgroupFile file,
                                          const CgroupDir& dir, std::string& buffer) {
  is_new_ = false;
  if (file_ != nullptr) {
    auto text = file_->Read(buffer);
    if (text.ok()) return text;
    file_.reset();
    if (!absl::IsNotFound(text.status())) return text;
    was_removed_ = true;
  }
  ASSIGN_OR_RETURN(auto opened, cgroups.Open(file, dir));
  auto text = opened->Read(buffer);
  if (!text.ok()) return text;
  file_ = std::move(opened);
  is_new_ = std::exchange(was_removed_, false);
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
