#include "koordlet/host/walk.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <string>
#include <vector>

#include "base/strings.h"

namespace koord::koordlet {
namespace {

constexpr int kMaxLinks = 40;

// The directories from the first one down to where the walk is.
class Descent {
 public:
  explicit Descent(int first) : first_(first) {}
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;
  ~Descent() {
    while (Up()) continue;
  }

  int here() const { return below_.empty() ? first_ : below_.back(); }
  void Down(int directory) { below_.push_back(directory); }
  bool Up() {
    if (below_.empty()) return false;
    close(below_.back());
    below_.pop_back();
    return true;
  }

 private:
  const int first_;
  std::vector<int> below_;
};

void PushParts(std::deque<std::string>& parts, std::string_view path) {
  const std::vector<std::string_view> split = Split(path, '/');
  for (auto part = split.rbegin(); part != split.rend(); ++part) {
    if (!part->empty() && *part != ".") parts.emplace_front(*part);
  }
}

int Fail(int error) {
  errno = error;
  return -1;
}

bool IsLink(int directory, const std::string& name) {
  struct stat info {};
  return fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

}  // namespace

int WalkBeneath(int directory, std::string_view path, int flags, bool follow_links) {
  Descent descent(directory);
  std::deque<std::string> parts;
  PushParts(parts, path);
  int links = 0;
  while (!parts.empty()) {
    const std::string part = parts.front();
    parts.pop_front();
    if (part == "..") {
      if (!descent.Up()) return Fail(EXDEV);
      continue;
    }
    if (IsLink(descent.here(), part)) {
      char target[PATH_MAX];
      const ssize_t size = readlinkat(descent.here(), part.c_str(), target, sizeof(target));
      if (size < 0) return -1;
      if (!follow_links || ++links > kMaxLinks) return Fail(ELOOP);
      if (size > 0 && target[0] == '/') return Fail(EXDEV);
      PushParts(parts, std::string_view(target, static_cast<size_t>(size)));
      continue;
    }
    if (parts.empty()) return openat(descent.here(), part.c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
    const int next =
        openat(descent.here(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0) return -1;
    descent.Down(next);
  }
  return openat(descent.here(), ".", flags | O_CLOEXEC);
}

}  // namespace koord::koordlet
