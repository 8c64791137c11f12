#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "api/gang.h"
#include "base/clock.h"
#include "kube/config_document.h"
#include "kube/time.h"

namespace koord::scheduler {

struct CoschedulingArgs {
  static constexpr std::string_view kPlugin = "Coscheduling";

  // How long a member waits for the others where its gang does not say. 0: the default.
  Duration default_timeout = std::chrono::seconds(600);
  int64_t controller_workers = 1;
  std::optional<bool> skip_check_schedule_cycle;  // of releases before rounds; no effect
  bool enable_preemption = false;
  bool aware_network_topology = false;
  // Of gangs that name none, or one that there is not.
  std::string default_match_policy = std::string(api::kGangMatchOnceSatisfied);

  static void Fields(auto& self, auto&& field) {
    field("defaultTimeout", kube::Always(self.default_timeout));
    field("controllerWorkers", kube::Always(self.controller_workers));
    field("skipCheckScheduleCycle", self.skip_check_schedule_cycle);
    field("enablePreemption", kube::Always(self.enable_preemption));
    field("awareNetworkTopology", kube::Always(self.aware_network_topology));
    field("defaultMatchPolicy", self.default_match_policy);
  }
  bool operator==(const CoschedulingArgs&) const = default;

  void Check(const kube::ConfigField& at) const;
};

}  // namespace koord::scheduler
