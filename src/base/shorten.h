#pragma once
#include <string>
#include <string_view>

namespace koord {

// The text itself, or, if it is longer than `limit` bytes, its beginning and "...". A character is
// never cut in two.
inline std::string Shorten(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;
  return std::string(text.substr(0, limit)) + "...";
}

}  // namespace koord
