#include "koordlet/executor/schemata.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/strings.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kL3 = "L3";
constexpr std::string_view kMb = "MB";

std::optional<uint64_t> ValueOf(std::string_view kind, std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, kind == kL3 ? 16 : 10);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// "0=ff;1=ff" and what may stand around it.
std::optional<std::map<int32_t, uint64_t>> ValuesOf(std::string_view kind, std::string_view text) {
  std::map<int32_t, uint64_t> values;
  text = Trim(text);
  while (!text.empty()) {
    std::string_view value = TakeUntil(text, ';');
    const auto cache = NumberOf<int32_t>(Trim(TakeUntil(value, '=')));
    const auto number = ValueOf(kind, Trim(value));
    if (!cache || *cache < 0 || !number || !values.emplace(*cache, *number).second) {
      return std::nullopt;
    }
  }
  return values;
}

}  // namespace

StatusOr<SchemataLine> SchemataLine::Parse(std::string_view kind, std::string_view text) {
  if (kind != kL3 && kind != kMb) {
    return InvalidArgument("schemata of {}: expected L3 or MB", Quote(kind));
  }
  std::string_view values = Trim(text);
  const std::string prefix = fmt::format("{}:", kind);
  if (values.starts_with(prefix)) values.remove_prefix(prefix.size());
  const auto parsed = ValuesOf(kind, values);
  if (!parsed || parsed->empty()) {
    return InvalidArgument("schemata {}: expected <cache>=<value>;...", Quote(text));
  }
  if (std::ranges::any_of(*parsed, [](const auto& entry) { return entry.second == 0; })) {
    return InvalidArgument("schemata {} leave a cache without any share", Quote(text));
  }
  return SchemataLine{std::string(kind), *parsed};
}

std::string SchemataLine::Text() const {
  std::string text = kind + ":";
  for (const auto& [cache, value] : values) {
    text +=
        kind == kL3 ? fmt::format("{}={:x};", cache, value) : fmt::format("{}={};", cache, value);
  }
  return text + "\n";
}

bool SchemataLine::Matches(std::string_view schemata) const {
  while (!schemata.empty()) {
    std::string_view line = TakeLine(schemata);
    if (Trim(TakeUntil(line, ':')) != kind) continue;
    const auto current = ValuesOf(kind, line);
    return current && std::ranges::all_of(values, [&](const auto& entry) {
             const auto it = current->find(entry.first);
             return it != current->end() && it->second == entry.second;
           });
  }
  return false;
}

}  // namespace koord::koordlet
