#include "localcluster/assembly/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/strings.h"

namespace koord::localcluster {
namespace {

constexpr char kLockFile[] = "/lock";

std::optional<pid_t> ReadPid(int file) {
  char text[32];
  const ssize_t length = pread(file, text, sizeof text, 0);
  if (length <= 0) return {};
  const auto pid = ParseInt(Trim({text, static_cast<size_t>(length)}));
  return pid ? std::optional<pid_t>(static_cast<pid_t>(*pid)) : std::nullopt;
}

Status MakePrivate(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return FailedPrecondition("{}: cannot be made: {}", path, error.message());
  if (chmod(path.c_str(), 0700) != 0) {
    return FailedPrecondition("{}: cannot be made private: {}; choose another --data-dir", path,
                              std::strerror(errno));
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<DataDirectory> DataDirectory::Acquire(const std::string& path) {
  RETURN_IF_ERROR(MakePrivate(path));
  const int file = open((path + kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return FailedPrecondition("{}/lock: {}", path, std::strerror(errno));
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    const auto pid = ReadPid(file);
    close(file);
    return FailedPrecondition(
        "a cluster already runs in {} (process {}); 'koord down' stops it, or choose another "
        "--data-dir",
        path, pid.value_or(0));
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(file, 0) != 0 || pwrite(file, pid.data(), pid.size(), 0) < 0) {
    const int error = errno;
    close(file);
    return FailedPrecondition("{}/lock: {}", path, std::strerror(error));
  }
  return DataDirectory(path, file);
}

std::optional<pid_t> DataDirectory::HeldBy(const std::string& path) {
  const int file = open((path + kLockFile).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const bool free = flock(file, LOCK_EX | LOCK_NB) == 0;
  const auto pid = free ? std::nullopt : ReadPid(file);
  close(file);
  return pid;
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataDirectory::~DataDirectory() {
  if (lock_ >= 0) close(lock_);
}

}  // namespace koord::localcluster
