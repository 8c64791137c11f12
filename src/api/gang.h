#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/objects/meta.h"

// Pods that are placed together, as labels and annotations say.
namespace koord::api {

inline constexpr std::string_view kGangModeStrict = "Strict";
inline constexpr std::string_view kGangModeNonStrict = "NonStrict";

inline constexpr std::string_view kGangMatchOnlyWaiting = "only-waiting";
inline constexpr std::string_view kGangMatchWaitingAndRunning = "waiting-and-running";
inline constexpr std::string_view kGangMatchOnceSatisfied = "once-satisfied";

// The gang a pod belongs to, or "".
std::string_view GangNameOf(const kube::ObjectMeta& pod);

// "namespace/name" of each gang that is placed together with this one; none where absent.
StatusOr<std::vector<std::string>> GangGroupsOf(const kube::Annotations& annotations);

// Under either key; "" where neither says anything.
std::string_view GangMatchPolicyOf(const kube::Annotations& annotations);

struct GatherStrategy {
  std::string layer;
  std::string strategy;  // MustGather, PreferGather
  int32_t pod_count_multiple = 0;

  static void Fields(auto& self, auto&& field) {
    field("layer", self.layer);
    field("strategy", self.strategy);
    field("podCountMultiple", self.pod_count_multiple);
  }
  bool operator==(const GatherStrategy&) const = default;
};

// gang.scheduling.koordinator.sh/network-topology-spec
struct NetworkTopologySpec {
  std::vector<GatherStrategy> gather_strategy;

  static void Fields(auto& self, auto&& field) { field("gatherStrategy", self.gather_strategy); }
  bool operator==(const NetworkTopologySpec&) const = default;
};

// An empty annotation counts as absent.
StatusOr<std::optional<NetworkTopologySpec>> NetworkTopologySpecOf(
    const kube::Annotations& annotations);

// The pod's rank in its gang; -1 where absent or malformed.
int64_t NetworkTopologyIndexOf(const kube::Annotations& annotations);
// Ranks in ascending order, pods without one after them, and the same rank by name.
bool ComesBeforeInTopology(const kube::ObjectMeta& a, const kube::ObjectMeta& b);

}  // namespace koord::api
