#include "localcluster/apiserver/storage/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/strings.h"

namespace koord::apiserver {
namespace {

std::string Holder(int fd) {
  std::array<char, 32> text;
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  const auto pid =
      size <= 0 ? std::nullopt : ParseUint(Trim({text.data(), static_cast<size_t>(size)}));
  return pid ? fmt::format("process {}", *pid) : "another process";
}

Status WriteHolder(int fd, const std::string& path) {
  const std::string text = fmt::format("{}\n", getpid());
  if (ftruncate(fd, 0) != 0 || pwrite(fd, text.data(), text.size(), 0) < 0) {
    return Unavailable("cannot write {}: {}", Quote(path), std::strerror(errno));
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<FileLock> FileLock::Acquire(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return Unavailable("cannot open {}: {}", Quote(path), std::strerror(errno));
  FileLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return Unavailable("cannot lock {}: {}", Quote(path), std::strerror(errno));
    }
    return FailedPrecondition("{} is held by {}", Quote(path), Holder(fd));
  }
  RETURN_IF_ERROR(WriteHolder(fd, path));
  return lock;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace koord::apiserver
