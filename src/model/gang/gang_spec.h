#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/gang.h"
#include "api/pod_group.h"
#include "base/clock.h"
#include "kube/objects/pod.h"

// What pods and PodGroups say of gangs: pods of which at least a minimum is placed, or none.
namespace koord::model {

enum class GangMode : uint8_t {
  kStrict,     // one member that fits nowhere sends all of them back
  kNonStrict,  // the others go on being tried
};
std::string_view ToString(GangMode mode);

// When the members that have a node may be bound.
enum class GangMatchPolicy : uint8_t {
  kOnlyWaiting,        // enough of them wait for it
  kWaitingAndRunning,  // enough of them wait or have been bound
  kOnceSatisfied,      // enough of them wait, or any of the group was ever bound
};
std::string_view ToString(GangMatchPolicy policy);
std::optional<GangMatchPolicy> ParseGangMatchPolicy(std::string_view text);

// For gangs that do not say.
struct GangDefaults {
  Duration wait = std::chrono::seconds(600);
  GangMatchPolicy policy = GangMatchPolicy::kOnceSatisfied;
};

struct GangSpec {
  int32_t min = 0;
  int32_t total = 0;  // as announced; for people
  GangMode mode = GangMode::kStrict;
  GangMatchPolicy policy = GangMatchPolicy::kOnceSatisfied;
  Duration wait{};
  // The gangs that are placed together, itself among them: ids, sorted, each once.
  std::vector<std::string> group;
  std::optional<api::NetworkTopologySpec> topology;
  WallTime created{};
  bool from_pod_group = false;
  // What it says that is not legal, and what holds instead: a sentence each.
  std::vector<std::string> problems;

  bool operator==(const GangSpec&) const = default;
};

// "namespace/name" of the gang that the pod belongs to; "" if to none.
std::string GangIdOf(const kube::Pod& pod);
// The PodGroup of that name, if there is one.
kube::ObjectKey PodGroupKeyOf(std::string_view gang_id);
// Whether only the PodGroup of its name says what its gang is.
bool IsOfPodGroup(const kube::Pod& pod);

// What a pod says of its gang. An error if it says no legal minimum: then it says nothing.
StatusOr<GangSpec> GangSpecOf(const kube::Pod& pod, const GangDefaults& defaults);
GangSpec GangSpecOf(const api::PodGroup& group, const GangDefaults& defaults);

// The name of the group that these gangs make.
std::string GangGroupIdOf(const std::vector<std::string>& sorted_ids);

}  // namespace koord::model
