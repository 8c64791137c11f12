#include "kube/serving/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/strings.h"

namespace koord::kube {
namespace {

Status FileError(const char* what, const std::string& path) {
  return Unavailable("cannot {} {}: {}", what, Quote(path), std::strerror(errno));
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Status MakePrivateDirectory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Unavailable("cannot make {}: {}", Quote(path), error.message());
  if (chmod(path.c_str(), 0700) != 0) return FileError("protect", path);
  return absl::OkStatus();
}

StatusOr<std::string> ReadPrivateFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) return NotFound("{} does not exist", Quote(path));
    return FileError("read", path);
  }
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

Status WritePrivateFile(const std::string& path, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);  // 0600
  if (fd < 0) return FileError("write", path);
  const bool written = WriteAll(fd, text) && fsync(fd) == 0;
  if (close(fd) != 0 || !written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    Status status = FileError("write", path);
    unlink(temporary.c_str());
    return status;
  }
  return absl::OkStatus();
}

}  // namespace koord::kube
