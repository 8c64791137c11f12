#include "localcluster/controllers/job/index_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/strings.h"

namespace koord::localcluster {

std::set<int32_t> ParseIndexes(std::string_view text, int32_t end) {
  std::set<int32_t> indexes;
  if (text.empty()) return indexes;
  for (std::string_view range : Split(text, ',')) {
    const size_t dash = range.find('-');
    const auto first = ParseUint(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ParseUint(range.substr(dash + 1));
    if (!first || !last || end <= 0) continue;
    const uint64_t stop = std::min<uint64_t>(*last, static_cast<uint64_t>(end) - 1);
    for (uint64_t i = *first; i <= stop; ++i) indexes.insert(static_cast<int32_t>(i));
  }
  return indexes;
}

std::string FormatIndexes(const std::set<int32_t>& indexes) {
  std::string text;
  for (auto it = indexes.begin(); it != indexes.end();) {
    const int32_t first = *it;
    int32_t last = first;
    while (++it != indexes.end() && *it == last + 1) last = *it;
    if (!text.empty()) text += ',';
    // Two neighbours are two numbers, three and more a range.
    text += last == first       ? fmt::format("{}", first)
            : last == first + 1 ? fmt::format("{},{}", first, last)
                                : fmt::format("{}-{}", first, last);
  }
  return text;
}

}  // namespace koord::localcluster
