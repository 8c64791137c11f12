#pragma once
#include "api/keys.h"
#include "scheduler/preemption/preemption_rules.h"

namespace koord::scheduler {

// Who may have to go for a pod, or for a reservation: whoever Kubernetes lets go, unless the pod
// says that it does not want to.
class ReservationEvictionRules final : public PreemptionRules {
 public:
  bool MayBeEvicted(const PodInfo& pod) const override {
    return PreemptionRules::MayBeEvicted(pod) &&
           kube::ValueOf(pod.shape->labels(), api::kLabelDisablePreemptible) != "true";
  }
};

}  // namespace koord::scheduler
