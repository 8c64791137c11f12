#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/objects/node.h"

// What the cluster makes of a node's signs of life.
namespace koord::localcluster {

// The conditions of a node that has not been heard of for too long: all that it reports itself
// become Unknown. Only those that change are returned; none if nothing does.
std::vector<kube::NodeCondition> ConditionsOfSilentNode(const kube::Node& node, WallTime now);

// Whether a node that does not work may lose its pods now.
enum class Evicting {
  kNotYet,  // others are before it; a node that is marked already stays so
  kNow,
  kWithdrawn,  // nowhere: marks are taken back
};

// The taints that a node should have, given its conditions and whether it is cordoned:
//   - NoSchedule for what is wrong with it (not ready, unreachable, short of memory, disk or
//   process
//     ids, no network) and for cordoning, at once;
//   - NoExecute for not ready or unreachable, which drives pods away, when it may.
// Taints of other origin are kept as they are. Times of taints that stay are kept too.
std::vector<kube::Taint> TaintsFor(const kube::Node& node, Evicting evicting, WallTime now);

// Whether the node's pods are to be driven away, by a NoExecute taint that it does not have yet.
bool WantsEviction(const kube::Node& node);

enum class ZoneState { kNormal, kPartlyDown, kAllDown };

// What share of a zone's nodes works. From 55 % (and more than two nodes) on that do not, it is
// likely that the fault is not the nodes'.
ZoneState StateOfZone(int ready, int not_ready);

// The region and zone that a node is in.
std::string ZoneOf(const kube::Node& node);

// How fast nodes of a zone may be emptied: one in 10 seconds; where most of a zone is down, one in
// 100 seconds, and none at all in zones of up to 50 nodes. When every zone is down, nothing moves:
// it is the control plane that has lost touch.
//
// Nodes are counted as they come, change and go; nobody looks at all of them.
class EvictionPace {
 public:
  // A node has come (no `before`), changed, or gone (no `after`). Returns the zones whose pace is
  // another one since, as far as a single zone's nodes decide it.
  std::vector<std::string> Update(const kube::Node* before, const kube::Node* after);

  bool all_down() const { return nodes_ > 0 && ready_ == 0; }

  // How long a node of that zone has to wait for its turn: zero grants it. None: until the zone's
  // state changes.
  std::optional<Duration> Wait(const std::string& zone, SteadyTime now);

 private:
  struct Zone {
    int ready = 0, not_ready = 0;
    SteadyTime next{0};
  };
  static std::optional<Duration> IntervalOf(const Zone& zone);
  std::optional<Duration> IntervalOf(const std::string& zone) const;
  void Count(const kube::Node& node, int by);

  std::map<std::string, Zone> zones_;  // those that have nodes
  int nodes_ = 0, ready_ = 0;          // in all of them
};

}  // namespace koord::localcluster
