#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/strings.h"

namespace koord::scheduler {

// Text that is wrapped at blanks, each line indented.
inline void AppendWrapped(std::string& out, std::string_view text, size_t indent, size_t width) {
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) out += fmt::format("{:{}}{}\n", "", indent, line);
    line.clear();
  };
  for (const std::string_view word : Split(text, ' ')) {
    if (word.empty()) continue;
    if (!line.empty() && indent + line.size() + 1 + word.size() > width) flush();
    if (!line.empty()) line += ' ';
    line += word;
  }
  flush();
}

}  // namespace koord::scheduler
