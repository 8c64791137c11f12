#pragma once
#include "model/quota/quota_tree.h"

namespace koord::model {

// What is true of a quota at present, as it is told to people, to dashboards and to other
// components.
struct QuotaStatus {
  QuotaAmounts runtime;  // none of default and system quota: they are not limited by any
  QuotaAmounts request, child_request;
  QuotaAmounts guaranteed, allocated;
  QuotaAmounts non_preemptible_request, non_preemptible_used;
  QuotaAmounts used;

  bool operator==(const QuotaStatus&) const = default;
};

QuotaStatus StatusOf(const QuotaTree& tree, const Quota& quota);

}  // namespace koord::model
