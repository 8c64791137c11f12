#include "koordlet/host/kept_file.h"

namespace koord::koordlet {

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
