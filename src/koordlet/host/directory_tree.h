#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "koordlet/host/file_tree.h"

namespace koord::koordlet {

// The files below a real directory, opened relative to it and never outside of it, whatever links
// somebody has put there. The directory need not exist yet.
class DirectoryTree final : public FileTree {
 public:
  enum class Links : uint8_t {
    kNone,    // no link is followed
    kFirst,   // only right below the directory: subsystems of cgroups ("cpu" is "cpu,cpuacct")
    kInside,  // links that stay inside: sysfs is full of them
  };
  struct Options {
    Links links = Links::kNone;
    // Paths are below this part of the directory, which may be mounted at any time.
    std::string below = {};
    size_t max_read = 4 << 20;
    // So many of its OpenFiles have a descriptor; the others open their files for each read.
    size_t max_open = 512;
    bool use_openat2 = true;  // false: as on kernels before 5.6
  };

  DirectoryTree(std::string directory, Options options);
  ~DirectoryTree() override;
  DirectoryTree(const DirectoryTree&) = delete;
  DirectoryTree& operator=(const DirectoryTree&) = delete;

  StatusOr<std::string> Read(std::string_view path) const override;
  // The tree outlives it.
  StatusOr<std::unique_ptr<OpenFile>> Open(std::string_view path) const override;
  Status Write(std::string_view path, std::string_view text) override;
  Status Append(std::string_view path, std::string_view text) override;
  bool Exists(std::string_view path) const override;
  StatusOr<std::vector<Entry>> List(std::string_view path) const override;
  StatusOr<std::string> ReadLink(std::string_view path) const override;
  Status MakeDirectory(std::string_view path) override;
  Status RemoveDirectory(std::string_view path) override;

  // A descriptor of a directory, the caller's to close: for perf counters of a cgroup.
  StatusOr<int> OpenDirectory(std::string_view path) const;

 private:
  StatusOr<int> Root() const;
  StatusOr<int> Resolve(std::string_view path, int flags) const;
  StatusOr<int> ResolveFrom(int directory, std::string_view path, int flags, Links links) const;
  StatusOr<int> FirstDirectory(int root, std::string_view name) const;
  Status WriteWith(std::string_view path, std::string_view text, int flags);
  bool IsDirectory(std::string_view path) const;

  class KeptDescriptor;

  const std::string directory_;
  const Options options_;
  mutable int root_ = -1;
  mutable bool has_openat2_;
  mutable StringMap<int> first_;  // subsystems, which come and go with the machine
  const std::shared_ptr<size_t> open_ = std::make_shared<size_t>(0);
};

}  // namespace koord::koordlet
