#pragma once
#include <fmt/core.h>

#include <compare>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace koord::koordlet {

// A directory of cgroups: relative to the root of the hierarchy (of every subsystem, in version 1),
// without slashes at either end.
//
// Those of classes, pods, containers and host applications are worked out by CgroupLayout alone;
// others are found below them, by names that the kernel has listed.
class CgroupDir {
 public:
  CgroupDir() = default;  // the root of the hierarchy
  // As one writes it who knows cgroups himself: the kernel, a runtime, a test.
  static CgroupDir At(std::string_view path) { return CgroupDir(std::string(path)); }

  const std::string& path() const { return path_; }
  operator std::string_view() const { return path_; }  // NOLINT: every directory is a path
  bool is_root() const { return path_.empty(); }
  // "c" of "a/b/c", and "a/b".
  std::string_view name() const { return std::string_view(path_).substr(path_.rfind('/') + 1); }
  std::string_view parent() const {
    const size_t slash = path_.rfind('/');
    return std::string_view(path_).substr(0, slash == std::string::npos ? 0 : slash);
  }
  // The directory of this name in it.
  CgroupDir Below(std::string_view name) const {
    std::string path;
    path.reserve(path_.size() + 1 + name.size());
    path += path_;
    if (!path.empty()) path += '/';
    path += name;
    return CgroupDir(std::move(path));
  }

  bool operator==(const CgroupDir&) const = default;
  auto operator<=>(const CgroupDir&) const = default;
  friend bool operator==(const CgroupDir& dir, std::string_view path) { return dir.path_ == path; }
  template <class Hash>
  friend Hash AbslHashValue(Hash hash, const CgroupDir& dir) {
    return Hash::combine(std::move(hash), dir.path_);
  }
  friend std::ostream& operator<<(std::ostream& out, const CgroupDir& dir) {
    return out << dir.path_;
  }

 private:
  explicit CgroupDir(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace koord::koordlet

template <>
struct fmt::formatter<koord::koordlet::CgroupDir> : fmt::formatter<std::string_view> {
  auto format(const koord::koordlet::CgroupDir& dir, auto& context) const {
    return fmt::formatter<std::string_view>::format(dir.path(), context);
  }
};
