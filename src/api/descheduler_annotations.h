#pragma once
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "kube/objects/meta.h"

// What pods say about being moved, and what is said of those that are.
namespace koord::api {

// The cost of a pod that must never be evicted.
inline constexpr int32_t kNeverEvict = std::numeric_limits<int32_t>::max();

// scheduling.koordinator.sh/eviction-cost; 0 where absent. Only plain decimal numbers count: no
// plus sign and no zeros in front.
StatusOr<int32_t> EvictionCostOf(const kube::Annotations& annotations);

// scheduling.koordinator.sh/soft-eviction: asks whoever runs the pod to move it.
struct SoftEviction {
  std::optional<WallTime> timestamp;
  kube::Json delete_options;
  std::string initiator;
  std::string reason;

  static void Fields(auto& self, auto&& field) {
    field("timestamp", self.timestamp);
    field("deleteOptions", self.delete_options);
    field("initiator", self.initiator);
    field("reason", self.reason);
  }
  bool operator==(const SoftEviction&) const = default;
};

StatusOr<std::optional<SoftEviction>> SoftEvictionOf(const kube::Annotations& annotations);
std::string EncodeSoftEviction(const SoftEviction& eviction);

// Why a PodMigrationJob was made: its reason, else the plugin that made it, else NotSet.
std::string_view EvictReasonOf(const kube::Annotations& job_annotations);

}  // namespace koord::api
