#include "model/numa/numa_shares.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace koord::model {

int64_t DivideAmongNodes(int64_t amount, int64_t unit, std::span<const int64_t> available,
                         std::span<int64_t> shares) {
  std::vector<size_t> order(available.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return available[i]; });
  auto left = static_cast<int64_t>(order.size());
  for (const size_t i : order) {
    const int64_t part = amount / unit / left-- * unit;
    shares[i] = std::max<int64_t>(std::min(available[i], part), 0);
    amount -= shares[i];
  }
  return amount;
}

}  // namespace koord::model
