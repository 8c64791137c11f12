#include "model/quota/quota_status.h"

namespace koord::model {

QuotaStatus StatusOf(const QuotaTree& tree, const Quota& quota) {
  const Quota& now = tree.Current(quota);
  const bool has_runtime = now.is_root || !IsBuiltInQuota(now.name());
  return {.runtime = has_runtime ? tree.RuntimeOf(now) : QuotaAmounts(),
          .request = now.Request(),
          .child_request = now.child_request,
          .guaranteed = now.guaranteed,
          .allocated = now.allocated,
          .non_preemptible_request = now.non_preemptible_request,
          .non_preemptible_used = now.non_preemptible_used,
          .used = now.used};
}

}  // namespace koord::model
