#pragma once
#include <cstdint>
#include <span>
#include <vector>

// How much of one resource each of several quotas gets. In whole units (thousandths of a core,
// bytes, cards) and exact: no unit is lost or invented by rounding, however large the numbers.
namespace koord::model {

using Wide = __int128;

// What one quota asks for. No number is negative.
struct ShareClaim {
  int64_t weight = 0;   // its part of what is shared
  int64_t request = 0;  // never gets more, but for a floor that it does not lend
  int64_t floor = 0;    // what it is given before anything is shared
  bool lends = true;    // of its floor, what it does not request
};

// What it gets where there is enough for everyone.
inline int64_t DemandOf(const ShareClaim& claim) {
  if (claim.request > claim.floor) return claim.weight > 0 ? claim.request : claim.floor;
  return claim.lends ? claim.request : claim.floor;
}

// Shares out by floors first, then the rest by weight among those that want more, until they have
// what they request: what somebody does not need is shared again.
//
// Units that cannot be divided go one each to those with the largest remainder; among equals to
// those that stand first. Floors are granted even where they are more than the total.
class FairShare {
 public:
  void Share(int64_t total, std::span<const ShareClaim> claims, std::span<int64_t> shares);

 private:
  struct Remainder {
    Wide amount;
    uint32_t claim;
  };
  // What of the rest nobody wanted after all.
  int64_t ShareRest(int64_t rest, std::span<const ShareClaim> claims, std::span<int64_t> shares);

  // Kept for their memory.
  std::vector<uint32_t> hungry_;
  std::vector<Remainder> remainders_;
};

// The part of a min that is left where the mins of all, `sum`, are more than there is: in
// proportion, rounded down.
inline int64_t ScaledMin(int64_t min, int64_t total, Wide sum) {
  if (total <= 0 || sum <= 0) return 0;
  return static_cast<int64_t>(Wide{total} * min / sum);
}

}  // namespace koord::model
