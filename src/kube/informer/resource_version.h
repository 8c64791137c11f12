#pragma once
#include <algorithm>
#include <string_view>

namespace koord::kube {

// Resource versions are decimal numbers without leading zeros. Anything else compares as not older.
inline bool IsOlderVersion(std::string_view a, std::string_view b) {
  const auto is_number = [](std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!is_number(a) || !is_number(b)) return false;
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace koord::kube
