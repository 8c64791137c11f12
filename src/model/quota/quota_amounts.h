#pragma once
#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "kube/objects/resource_list.h"
#include "model/quota/fair_share.h"

namespace koord::model {

// A resource that some quota limits, by number.
using DimensionId = uint32_t;

struct QuotaAmount {
  DimensionId id;
  Wide value;  // sums of any number of pods fit

  bool operator==(const QuotaAmount&) const = default;
};
// Ascending ids, each once. An amount of zero is not the same as none where the list is a limit.
using QuotaAmounts = absl::InlinedVector<QuotaAmount, 3>;

const QuotaAmount* Find(const QuotaAmounts& amounts, DimensionId id);
inline Wide ValueIn(const QuotaAmounts& amounts, DimensionId id) {
  const QuotaAmount* found = Find(amounts, id);
  return found == nullptr ? 0 : found->value;
}
void AddTo(QuotaAmounts& sum, const QuotaAmounts& more, int sign = 1);
void RaiseTo(QuotaAmounts& amounts, const QuotaAmounts& at_least);
// Only the resources that `names` has.
QuotaAmounts Masked(const QuotaAmounts& amounts, const QuotaAmounts& names);
bool IsZero(const QuotaAmounts& amounts);
// Equal but for zeros.
bool SameAmounts(const QuotaAmounts& a, const QuotaAmounts& b);

inline int64_t Clamped(Wide value) {
  constexpr Wide kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value > kMost ? kMost : value < -kMost ? -kMost : value);
}

// The resources that quotas are about: cpu in thousandths, everything else in whole units.
class Dimensions {
 public:
  DimensionId Intern(std::string_view name);
  std::optional<DimensionId> Find(std::string_view name) const;
  const std::string& NameOf(DimensionId id) const { return names_[id]; }
  size_t size() const { return names_.size(); }

  static int64_t ValueOf(std::string_view name, const kube::Quantity& amount);
  kube::Quantity QuantityOf(DimensionId id, Wide value) const;

  QuotaAmounts Intern(const kube::ResourceList& list);
  // Leaves out what no quota is about.
  QuotaAmounts Known(const kube::ResourceList& list) const;
  kube::ResourceList ListOf(const QuotaAmounts& amounts) const;
  // "cpu:4,memory:20", by name; "<empty>" for nothing.
  std::string TextOf(const QuotaAmounts& amounts) const;

 private:
  std::vector<std::string> names_;
  StringMap<DimensionId> ids_;
};

}  // namespace koord::model
