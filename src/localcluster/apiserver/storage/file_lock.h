#pragma once
#include <string>
#include <utility>

#include "base/status.h"

namespace koord::apiserver {

// Keeps a second process away from files that only one may use. Ends with its owner, also when that
// is killed.
class FileLock {
 public:
  // `path` is a file made for the purpose; it stays behind. kFailedPrecondition, naming the process
  // that holds the lock, if there is one.
  static StatusOr<FileLock> Acquire(const std::string& path);

  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace koord::apiserver
