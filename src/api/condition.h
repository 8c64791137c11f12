#pragma once
#include <optional>
#include <string>

#include "kube/codec.h"

namespace koord::api {

// A condition of a Reservation or PodMigrationJob. kube::FindCondition finds them by type.
struct ProbedCondition {
  std::string type;
  std::string status;  // True, False, Unknown
  std::string reason;
  std::string message;
  std::optional<WallTime> last_probe_time;
  std::optional<WallTime> last_transition_time;

  static void Fields(auto& self, auto&& field) {
    field("type", kube::Always(self.type));
    field("status", kube::Always(self.status));
    field("reason", self.reason);
    field("message", self.message);
    field("lastProbeTime", self.last_probe_time);
    field("lastTransitionTime", self.last_transition_time);
  }
  bool operator==(const ProbedCondition&) const = default;
};

}  // namespace koord::api
