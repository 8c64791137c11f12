#include "model/numa/numa_mask.h"

#include <algorithm>

namespace koord::model {
namespace {

std::vector<int32_t> NodesOf(NumaMask mask) {
  std::vector<int32_t> nodes;
  for (int32_t node = 0; node < NumaMask::kMaxNodes; ++node) {
    if (mask.Has(node)) nodes.push_back(node);
  }
  return nodes;
}

}  // namespace

std::string NumaMask::ToString() const {
  const int digits = bits_ == 0 ? 1 : 64 - std::countl_zero(bits_);
  std::string text;
  for (int digit = digits - 1; digit >= 0; --digit) text += (bits_ >> digit & 1) != 0 ? '1' : '0';
  const bool lone_even_node = size() == 1 && digits % 2 == 1 && digits > 1;
  if (digits % 2 == 1 && !lone_even_node) text.insert(text.begin(), '0');
  return text;
}

std::vector<NumaMask> MasksOf(NumaMask nodes) {
  std::vector<NumaMask> masks;
  if (nodes.size() > kMostAligned) {
    for (const int32_t node : NodesOf(nodes)) masks.push_back({node});
    masks.push_back(nodes);
    return masks;
  }
  for (uint64_t bits = nodes.bits(); bits != 0; bits = (bits - 1) & nodes.bits()) {
    masks.push_back(NumaMask::FromBits(bits));
  }
  std::ranges::sort(masks, [](NumaMask a, NumaMask b) {
    return a.size() == b.size() ? NodesOf(a) < NodesOf(b) : a.size() < b.size();
  });
  return masks;
}

}  // namespace koord::model
