#include "base/suggest.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/strings.h"

namespace koord {
namespace {

// Edits (insert, delete, replace, swap neighbours) that turn one word into the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> current(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> Suggest(std::string_view typed,
                                   std::span<const std::string> candidates) {
  const std::string lower = ToLower(typed);
  std::optional<std::string> nearest;
  size_t best = std::max<size_t>(1, typed.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(lower, ToLower(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace koord
