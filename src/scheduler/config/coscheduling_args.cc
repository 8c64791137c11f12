#include "scheduler/config/coscheduling_args.h"

#include <array>

#include "base/duration.h"

namespace koord::scheduler {

void CoschedulingArgs::Check(const kube::ConfigField& at) const {
  if (default_timeout < Duration::zero()) {
    at.Member("defaultTimeout")
        .Error("{}: coeSchedulingArgs DefaultTimeoutSeconds invalid: must be at least 0",
               FormatDuration(default_timeout));
  }
  if (controller_workers < 1) {
    at.Member("controllerWorkers")
        .Error("{}: coeSchedulingArgs ControllerWorkers invalid: must be at least 1",
               controller_workers);
  }
  static constexpr std::array kPolicies{
      api::kGangMatchOnlyWaiting, api::kGangMatchWaitingAndRunning, api::kGangMatchOnceSatisfied};
  if (!default_match_policy.empty()) {
    at.Member("defaultMatchPolicy").CheckOneOf(default_match_policy, kPolicies);
  }
}

}  // namespace koord::scheduler
