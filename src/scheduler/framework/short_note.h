#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace koord::scheduler {

// What fits into an event: at most 1024 bytes.
inline std::string ShortenNote(std::string message) {
  constexpr size_t kMaxNote = 1024;
  constexpr std::string_view kCut = " ...";
  if (message.size() <= kMaxNote) return message;
  message.resize(kMaxNote - kCut.size());
  return message.append(kCut);
}

}  // namespace koord::scheduler
