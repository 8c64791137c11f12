#include "koordlet/hooks/engine/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace koord::koordlet::hooks {
namespace {

Status Problem(const std::string& path) {
  return Internal("cannot write {}: {}", path, std::generic_category().message(errno));
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace

Status WriteFileAtomically(const std::string& path, std::string_view text, int mode) {
  const std::string temporary = path + ".tmp";
  unlink(temporary.c_str());
  const int fd =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (fd < 0) return Problem(path);
  const bool written = fchmod(fd, static_cast<mode_t>(mode)) == 0 && WriteAll(fd, text);
  if (close(fd) != 0 || !written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const Status status = Problem(path);
    unlink(temporary.c_str());
    return status;
  }
  return absl::OkStatus();
}

}  // namespace koord::koordlet::hooks
