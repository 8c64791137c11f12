#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/quota/quota_tree.h"

// Whether a quota has room for one more pod, and what to tell people if not.
namespace koord::model {

struct AdmissionRules {
  // What limits a quota is its runtime; otherwise its max, and that of everyone above it.
  bool runtime = true;
  // The limits of all quotas above count too.
  bool check_parents = false;
};

// What a pod takes from its quota.
struct QuotaCharge {
  QuotaAmounts amounts;  // of resources that the quota is about
  bool non_preemptible = false;
};

// Why there is no room.
struct QuotaShortfall {
  enum class Kind : uint8_t {
    kLimit,           // of the pod's quota
    kNonPreemptible,  // those that may not be preempted must fit into its min
    kAncestor,        // the limit of a quota above
    kDetached,        // a quota above is not there
  };
  Kind kind;
  const Quota* quota;                 // whose limit it is; of kDetached the last that is there
  QuotaAmounts limit, used;           // as they are
  std::vector<DimensionId> exceeded;  // what there is not enough of
};

// What the quota may use, by these rules. Default and system quota are limited by their max alone,
// and only where that limits all.
QuotaAmounts LimitOf(const QuotaTree& tree, const Quota& quota, const AdmissionRules& rules);

// What a quota uses more (or less) than it does now.
struct QuotaUse {
  QuotaAmounts amounts;
  QuotaAmounts non_preemptible;
};

// Nothing: the pod may run. `with` is used besides by others of the same quota, who are on their
// way, or would be gone.
std::optional<QuotaShortfall> CheckAdmission(const QuotaTree& tree, const Quota& quota,
                                             const QuotaCharge& charge, const AdmissionRules& rules,
                                             const QuotaUse& with = {});

// As users know it from events. `quota` is that of the pod.
std::string TextOf(const QuotaShortfall& shortfall, const QuotaTree& tree, const Quota& quota,
                   const QuotaCharge& charge);

// The names that are more in `amounts` than in the limit; what the limit does not name is not
// limited.
std::vector<DimensionId> Exceeded(const QuotaAmounts& amounts, const QuotaAmounts& limit);

}  // namespace koord::model
