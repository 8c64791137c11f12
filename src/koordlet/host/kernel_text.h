#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

// Bits of text as the kernel writes it, taken apart without copying.
namespace koord::koordlet {

// The part up to the separator, which is taken off the text with it.
inline std::string_view TakeUntil(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return part;
}
inline std::string_view TakeLine(std::string_view& text) { return TakeUntil(text, '\n'); }

// The next word, with the blanks before it; empty at the end.
inline std::string_view TakeWord(std::string_view& text) {
  constexpr std::string_view kBlanks = " \t\n";
  const size_t start = text.find_first_not_of(kBlanks);
  text.remove_prefix(start == text.npos ? text.size() : start);
  const size_t end = text.find_first_of(kBlanks);
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(word.size());
  return word;
}

// All of the text must be one number that fits.
template <class Number>
std::optional<Number> NumberOf(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace koord::koordlet
