#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/status.h"

namespace koord::localcluster {

// Where a local cluster keeps its state and credentials. Only its owner may look inside, and only
// one process at a time may use it: the lock is the operating system's, so that it ends with the
// process however that ends.
class DataDirectory {
 public:
  // Makes it if needed. Fails if another process holds it, naming that process.
  static StatusOr<DataDirectory> Acquire(const std::string& path);
  // The process that holds it now.
  static std::optional<pid_t> HeldBy(const std::string& path);

  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory& operator=(DataDirectory&&) = delete;
  ~DataDirectory();

  const std::string& path() const { return path_; }
  std::string File(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  DataDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;
};

}  // namespace koord::localcluster
