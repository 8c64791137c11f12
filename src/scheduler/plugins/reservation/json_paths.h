#pragma once
#include <string>
#include <string_view>

namespace koord::scheduler {

// Where an annotation stands, in the words of a JSON patch.
inline std::string AnnotationPath(std::string_view key) {
  std::string path = "/metadata/annotations/";
  for (const char c : key) {
    if (c == '/') {
      path += "~1";
    } else {
      path += c;
    }
  }
  return path;
}

}  // namespace koord::scheduler
