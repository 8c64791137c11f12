#include "localcluster/apiserver/http/warning_headers.h"

#include <string_view>

#include "base/string_map.h"

namespace koord::apiserver {
namespace {

constexpr size_t kMaxCharacters = 4096;  // of all warnings, without what is around them
constexpr size_t kMaxOfEach = 256;

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// The bytes of the first `limit` characters, and how many there are.
struct Beginning {
  std::string_view text;
  size_t characters = 0;
};

Beginning BeginningOf(std::string_view text, size_t limit) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!StartsCharacter(text[i])) continue;
    if (characters == limit) return {text.substr(0, i), limit};
    ++characters;
  }
  return {text, characters};
}

// Quotes and backslashes escaped, no control characters.
std::string HeaderValue(std::string_view text) {
  std::string value = "299 - \"";
  for (const char c : text) {
    if (c == '"' || c == '\\') value += '\\';
    if (static_cast<unsigned char>(c) >= ' ' && c != 0x7f) value += c;
  }
  return value + '"';
}

}  // namespace

std::vector<std::string> WarningValues(const std::vector<std::string>& warnings) {
  std::vector<std::string_view> texts;
  StringSet said;
  size_t total = 0;
  for (const std::string& warning : warnings) {
    if (warning.empty() || !said.insert(warning).second) continue;
    texts.push_back(warning);
    total += BeginningOf(warning, kMaxCharacters + 1).characters;
  }
  const size_t limit = total > kMaxCharacters ? kMaxOfEach : kMaxCharacters;
  std::vector<std::string> values;
  size_t written = 0;
  for (const std::string_view text : texts) {
    if (written >= kMaxCharacters) break;
    const Beginning shown = BeginningOf(text, limit);
    written += shown.characters;
    values.push_back(HeaderValue(shown.text));
  }
  return values;
}

}  // namespace koord::apiserver
