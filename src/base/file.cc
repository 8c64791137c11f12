#include "base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace koord {

StatusOr<std::string> ReadFile(const std::string& path, size_t limit) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (file == nullptr) {
    const int error = errno;
    const Status status = InvalidArgument("{}: {}", path, std::strerror(error));
    return error == ENOENT ? NotFound("{}", Message(status)) : status;
  }
  std::string text;
  char buffer[16384];
  while (const size_t count = std::fread(buffer, 1, sizeof(buffer), file.get())) {
    if (text.size() + count > limit)
      return InvalidArgument("{}: larger than {} bytes", path, limit);
    text.append(buffer, count);
  }
  if (std::ferror(file.get()) != 0) return InvalidArgument("{}: {}", path, std::strerror(errno));
  return text;
}

}  // namespace koord
