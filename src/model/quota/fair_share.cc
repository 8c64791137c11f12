#include "model/quota/fair_share.h"

#include <algorithm>

namespace koord::model {

void FairShare::Share(int64_t total, std::span<const ShareClaim> claims,
                      std::span<int64_t> shares) {
  hungry_.clear();
  Wide rest = total;
  for (uint32_t i = 0; i < claims.size(); ++i) {
    const ShareClaim& claim = claims[i];
    const bool wants_more = claim.request > claim.floor;
    shares[i] = wants_more || !claim.lends ? claim.floor : claim.request;
    rest -= shares[i];
    if (wants_more && claim.weight > 0) hungry_.push_back(i);
  }
  while (rest > 0 && !hungry_.empty()) {
    rest = ShareRest(static_cast<int64_t>(rest), claims, shares);
  }
}

int64_t FairShare::ShareRest(int64_t rest, std::span<const ShareClaim> claims,
                             std::span<int64_t> shares) {
  Wide weights = 0;
  for (const uint32_t i : hungry_) weights += claims[i].weight;
  remainders_.clear();
  int64_t left = rest;
  for (const uint32_t i : hungry_) {
    const Wide product = Wide{claims[i].weight} * rest;
    const auto share = static_cast<int64_t>(product / weights);
    shares[i] += share;
    left -= share;
    remainders_.push_back({product - share * weights, i});
  }
  if (left > 0) {
    const auto goes_first = [](const Remainder& a, const Remainder& b) {
      return a.amount != b.amount ? a.amount > b.amount : a.claim < b.claim;
    };
    std::nth_element(remainders_.begin(), remainders_.begin() + left, remainders_.end(),
                     goes_first);
    for (int64_t i = 0; i < left; ++i) ++shares[remainders_[i].claim];
  }
  int64_t returned = 0;
  std::erase_if(hungry_, [&](uint32_t i) {
    const int64_t excess = shares[i] - claims[i].request;
    if (excess < 0) return false;
    shares[i] -= excess;
    returned += excess;
    return true;
  });
  return returned;
}

}  // namespace koord::model
