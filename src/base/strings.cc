#include "base/strings.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace koord {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char LowerChar(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <class T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

constexpr std::array<int8_t, 256> MakeBase64Values() {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kBase64.size(); ++i) {
    values[static_cast<uint8_t>(kBase64[i])] = static_cast<int8_t>(i);
  }
  return values;
}

}  // namespace

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), LowerChar);
  return lower;
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return LowerChar(x) == LowerChar(y); });
}

std::optional<int64_t> ParseInt(std::string_view text) { return ParseNumber<int64_t>(text); }
std::optional<uint64_t> ParseUint(std::string_view text) { return ParseNumber<uint64_t>(text); }

std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"true", "True", "TRUE", "t", "T", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "False", "FALSE", "f", "F", "0"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::string Base64Encode(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  const char* const digits = kBase64.data();
  const char* const in = bytes.data();
  const auto byte = [in](size_t i) -> uint32_t { return static_cast<uint8_t>(in[i]); };
  char* out = text.data();
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3, out += 4) {
    const uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out[0] = digits[group >> 18];
    out[1] = digits[group >> 12 & 63];
    out[2] = digits[group >> 6 & 63];
    out[3] = digits[group & 63];
  }
  const size_t rest = bytes.size() - i;
  if (rest == 0) return text;
  const uint32_t group = byte(i) << 16 | (rest == 2 ? byte(i + 1) << 8 : 0);
  out[0] = digits[group >> 18];
  out[1] = digits[group >> 12 & 63];
  if (rest == 2) out[2] = digits[group >> 6 & 63];
  return text;
}

std::optional<std::string> Base64Decode(std::string_view text) {
  static constexpr auto kValues = MakeBase64Values();
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      ++padding;
      group <<= 6;
    } else {
      const int8_t value = kValues[static_cast<uint8_t>(c)];
      if (value < 0 || padding > 0) return {};
      group = group << 6 | static_cast<uint32_t>(value);
    }
    if (++digits % 4 != 0) continue;
    if (padding > 2) return {};
    for (int k = 0; k < 3 - padding; ++k) bytes += static_cast<char>(group >> (16 - 8 * k));
    group = 0;
  }
  if (digits % 4 != 0) return {};
  return bytes;
}

std::string Base64UrlEncode(std::string_view bytes) {
  std::string text = Base64Encode(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

std::optional<std::string> Base64UrlDecode(std::string_view text) {
  if (text.find_first_of("+/=\r\n") != std::string_view::npos) return {};
  std::string standard(text);
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  standard.append((4 - standard.size() % 4) % 4, '=');
  return Base64Decode(standard);
}

namespace {

// Of the character that a text begins with, in bytes; 0: it begins with none.
size_t Utf8Length(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length == 0 || lead > 0xf4 || length > text.size()) return 0;
  uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  for (size_t k = 1; k < length; ++k) {
    const auto next = static_cast<uint8_t>(text[k]);
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3f);
  }
  // Overlong forms, surrogates and what lies beyond Unicode.
  if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000)) return 0;
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return 0;
  return length;
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string Quote(std::string_view text, size_t limit) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string quoted = "\"";
  std::string_view rest = text.substr(0, limit);
  while (!rest.empty()) {
    const char c = rest[0];
    const size_t length = Utf8Length(rest);
    if (length == 0) {
      quoted += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) {
      quoted += "\\u00";
      quoted += kHex[static_cast<uint8_t>(c) >> 4];
      quoted += kHex[c & 15];
    } else {
      quoted += rest.substr(0, length);
    }
    rest.remove_prefix(std::max<size_t>(length, 1));
  }
  if (text.size() > limit) quoted += "...";
  quoted += '"';
  return quoted;
}

}  // namespace koord
