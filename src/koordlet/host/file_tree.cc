#include "koordlet/host/file_tree.h"

#include "base/strings.h"

namespace koord::koordlet {

Status CheckTreePath(std::string_view path) {
  constexpr size_t kMaxPath = 4096;
  const auto refuse = [path](std::string_view why) {
    return InvalidArgument("{} is no path in a tree: {}", Quote(path), why);
  };
  if (path.size() >= kMaxPath) return refuse("too long");
  if (path.find('\0') != path.npos) return refuse("it has a zero byte");
  if (path.starts_with('/') || path.ends_with('/')) return refuse("it has a slash at an end");
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return refuse("it does not only go down");
    start = end + 1;
  }
  return absl::OkStatus();
}

}  // namespace koord::koordlet
