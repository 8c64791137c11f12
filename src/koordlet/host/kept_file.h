#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "koordlet/host/cgroups.h"
#include "koordlet/host/file_tree.h"

namespace koord::koordlet {

// A file of a cgroup that stays open from one read to the next. A cgroup that was removed and made
// again under its name is found in the same read.
class KeptFile {
 public:
  // Valid until the buffer changes.
  StatusOr<std::string_view> Read(const Cgroups& cgroups, CgroupFile file, const CgroupDir& dir,
                                  std::string& buffer);
  // Whether the last read was of another cgroup than the one before, whose counters are gone.
  bool is_new() const { return is_new_; }

 private:
  std::unique_ptr<OpenFile> file_;
  bool was_removed_ = false;
  bool is_new_ = false;
};

// The same for any file of a tree.
class KeptPath {
 public:
  explicit KeptPath(std::string path) : path_(std::move(path)) {}
  StatusOr<std::string_view> Read(const FileTree& tree, std::string& buffer);

 private:
  const std::string path_;
  std::unique_ptr<OpenFile> file_;
};

}  // namespace koord::koordlet
