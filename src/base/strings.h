#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace koord {

std::vector<std::string_view> Split(std::string_view text, char separator);
std::string_view Trim(std::string_view text);  // ASCII white space, both ends
std::string ToLower(std::string_view text);
bool EqualsIgnoreCase(std::string_view a, std::string_view b);
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }  // whatever the locale

// The whole text must be a decimal number that fits.
std::optional<int64_t> ParseInt(std::string_view text);
std::optional<uint64_t> ParseUint(std::string_view text);
// true, True, TRUE, t, T or 1, and likewise for false: what flags and labels of Kubernetes take.
std::optional<bool> ParseBool(std::string_view text);

std::string Base64Encode(std::string_view bytes);
std::optional<std::string> Base64Decode(std::string_view text);
// The alphabet for URLs, without padding.
std::string Base64UrlEncode(std::string_view bytes);
std::optional<std::string> Base64UrlDecode(std::string_view text);

bool IsValidUtf8(std::string_view text);

// For logs and errors: control characters escaped, at most `limit` bytes.
std::string Quote(std::string_view text, size_t limit = 256);

template <class Range>
std::string Join(const Range& parts, std::string_view separator) {
  std::string joined;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) joined += separator;
    first = false;
    joined += part;
  }
  return joined;
}

}  // namespace koord
