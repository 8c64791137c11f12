#include "localcluster/controllers/nodelifecycle/node_health.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace koord::localcluster {
namespace {

using kube::Node;
using kube::NodeCondition;
using kube::Taint;

constexpr int kDisruptedPercent = 55;
constexpr int kFewNodes = 2;
constexpr int kLargeZone = 50;
constexpr Duration kUsualInterval = 10s;
constexpr Duration kSlowInterval = 100s;

struct Trouble {
  std::string_view condition, status, taint;
};
constexpr std::array<Trouble, 6> kTroubles = {{
    {"Ready", "False", kube::kTaintNodeNotReady},
    {"Ready", "Unknown", kube::kTaintNodeUnreachable},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
}};

bool Shows(const Node& node, const Trouble& trouble) {
  const NodeCondition* condition = kube::FindCondition(node.status.conditions, trouble.condition);
  // A node that has never reported is not ready.
  if (condition == nullptr) return trouble.taint == kube::kTaintNodeNotReady;
  return condition->status == trouble.status;
}

bool DrivesAway(const Trouble& trouble) { return trouble.condition == "Ready"; }

bool IsManaged(const Taint& taint) {
  const bool by_condition = std::any_of(kTroubles.begin(), kTroubles.end(), [&](const auto& t) {
    return t.taint == taint.key && (taint.effect == kube::kNoSchedule ||
                                    (taint.effect == kube::kNoExecute && DrivesAway(t)));
  });
  return by_condition ||
         (taint.key == kube::kTaintNodeUnschedulable && taint.effect == kube::kNoSchedule);
}

const Taint* FindTaint(const Node& node, std::string_view key, std::string_view effect) {
  for (const Taint& taint : node.spec.taints) {
    if (taint.key == key && taint.effect == effect) return &taint;
  }
  return nullptr;
}

// Its pods are being driven away.
bool IsMarked(const Node& node) {
  return FindTaint(node, kube::kTaintNodeNotReady, kube::kNoExecute) != nullptr ||
         FindTaint(node, kube::kTaintNodeUnreachable, kube::kNoExecute) != nullptr;
}

}  // namespace

std::vector<NodeCondition> ConditionsOfSilentNode(const Node& node, WallTime now) {
  std::vector<NodeCondition> changed;
  for (const char* type : {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}) {
    const NodeCondition* known = kube::FindCondition(node.status.conditions, type);
    if (known != nullptr && known->status == "Unknown") continue;
    NodeCondition condition;
    condition.type = type;
    condition.status = "Unknown";
    condition.last_transition_time = now;
    if (known == nullptr) {
      condition.reason = "NodeStatusNeverUpdated";
      condition.message = "Kubelet never posted node status.";
      condition.last_heartbeat_time = node.metadata.creation_timestamp;
    } else {
      condition.reason = "NodeStatusUnknown";
      condition.message = "Kubelet stopped posting node status.";
      condition.last_heartbeat_time = known->last_heartbeat_time;
    }
    changed.push_back(std::move(condition));
  }
  return changed;
}

std::vector<Taint> TaintsFor(const Node& node, Evicting evicting, WallTime now) {
  std::vector<Taint> taints;
  for (const Taint& taint : node.spec.taints) {
    if (!IsManaged(taint)) taints.push_back(taint);
  }
  const auto add = [&](std::string_view key, std::string_view effect) {
    const Taint* known = FindTaint(node, key, effect);
    taints.push_back(
        known != nullptr
            ? *known
            : Taint{.key = std::string(key), .effect = std::string(effect), .time_added = now});
  };
  for (const Trouble& trouble : kTroubles) {
    if (!Shows(node, trouble)) continue;
    add(trouble.taint, kube::kNoSchedule);
    if (!DrivesAway(trouble)) continue;
    // A node whose trouble has changed its name (not ready, unreachable) stays marked throughout.
    const bool stays = evicting == Evicting::kNotYet && IsMarked(node);
    if (evicting == Evicting::kNow || stays) add(trouble.taint, kube::kNoExecute);
  }
  if (node.spec.unschedulable) add(kube::kTaintNodeUnschedulable, kube::kNoSchedule);
  return taints;
}

bool WantsEviction(const Node& node) {
  if (IsMarked(node)) return false;
  return std::any_of(kTroubles.begin(), kTroubles.end(), [&](const Trouble& trouble) {
    return DrivesAway(trouble) && Shows(node, trouble);
  });
}

ZoneState StateOfZone(int ready, int not_ready) {
  if (ready == 0 && not_ready > 0) return ZoneState::kAllDown;
  const int all = ready + not_ready;
  if (not_ready > kFewNodes && 100 * not_ready >= kDisruptedPercent * all)
    return ZoneState::kPartlyDown;
  return ZoneState::kNormal;
}

std::string ZoneOf(const Node& node) {
  const auto& labels = node.metadata.labels;
  return std::string(kube::ValueOf(labels, "topology.kubernetes.io/region")) + "/" +
         std::string(kube::ValueOf(labels, "topology.kubernetes.io/zone"));
}

std::vector<std::string> EvictionPace::Update(const Node* before, const Node* after) {
  std::vector<std::pair<std::string, std::optional<Duration>>> paces;
  for (const Node* node : {before, after}) {
    if (node == nullptr) continue;
    const std::string zone = ZoneOf(*node);
    if (paces.empty() || paces[0].first != zone) paces.emplace_back(zone, IntervalOf(zone));
  }
  if (before != nullptr) Count(*before, -1);
  if (after != nullptr) Count(*after, 1);
  std::vector<std::string> changed;
  for (auto& [zone, pace] : paces) {
    if (IntervalOf(zone) != pace) changed.push_back(std::move(zone));
  }
  return changed;
}

void EvictionPace::Count(const Node& node, int by) {
  const bool ready = kube::IsReady(node);
  const auto zone = zones_.try_emplace(ZoneOf(node)).first;
  (ready ? zone->second.ready : zone->second.not_ready) += by;
  nodes_ += by;
  if (ready) ready_ += by;
  if (zone->second.ready == 0 && zone->second.not_ready == 0) zones_.erase(zone);
}

std::optional<Duration> EvictionPace::IntervalOf(const Zone& zone) {
  if (StateOfZone(zone.ready, zone.not_ready) != ZoneState::kPartlyDown) return kUsualInterval;
  if (zone.ready + zone.not_ready <= kLargeZone) return std::nullopt;
  return kSlowInterval;
}

std::optional<Duration> EvictionPace::IntervalOf(const std::string& name) const {
  const auto zone = zones_.find(name);
  return zone == zones_.end() ? kUsualInterval : IntervalOf(zone->second);
}

std::optional<Duration> EvictionPace::Wait(const std::string& name, SteadyTime now) {
  const auto found = zones_.find(name);
  if (found == zones_.end() || all_down()) return std::nullopt;
  Zone& zone = found->second;
  const std::optional<Duration> interval = IntervalOf(zone);
  if (!interval) return std::nullopt;
  if (now < zone.next) return zone.next - now;
  zone.next = now + *interval;
  return Duration::zero();
}

}  // namespace koord::localcluster
