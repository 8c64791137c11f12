#pragma once
#include <string_view>

namespace koord {

// A file of the source tree that a program carries along (cmake/EmbedFiles.cmake).
struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

}  // namespace koord
