#include "localcluster/controllers/deployment/replica_math.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/strings.h"
#include "localcluster/controllers/common/replica_limit.h"

namespace koord::localcluster {
namespace {

bool MadeEarlier(const ReplicaSetPtr& a, const ReplicaSetPtr& b) {
  return std::tie(a->metadata.creation_timestamp, a->metadata.name) <
         std::tie(b->metadata.creation_timestamp, b->metadata.name);
}

ReplicaSetList OldestFirst(ReplicaSetList sets) {
  std::sort(sets.begin(), sets.end(), MadeEarlier);
  return sets;
}

// Takes up to `spare` replicas from the sets, each no lower than `keep` leaves it.
template <class Keep>
int64_t Take(std::vector<Resize>& sizes, int64_t spare, Keep keep) {
  int64_t taken = 0;
  for (Resize& resize : sizes) {
    const int32_t most = ToReplicas(std::max<int64_t>(spare - taken, 0));
    const int32_t from_this = std::clamp(resize.replicas - keep(*resize.set), 0, most);
    resize.replicas -= from_this;
    taken += from_this;
  }
  return taken;
}

void DropUnchanged(std::vector<Resize>& sizes) {
  std::erase_if(sizes, [](const Resize& r) { return r.replicas == WantedBy(*r.set); });
}

}  // namespace

int64_t TotalWanted(const ReplicaSetList& sets) {
  int64_t total = 0;
  for (const ReplicaSetPtr& set : sets) total += WantedBy(*set);
  return total;
}

int64_t TotalAvailable(const ReplicaSetList& sets) {
  int64_t total = 0;
  for (const ReplicaSetPtr& set : sets) total += set->status.available_replicas;
  return total;
}

RolloutLimits LimitsOf(const kube::Deployment& deployment) {
  RolloutLimits limits;
  if (!IsRolling(deployment)) return limits;
  const kube::RollingUpdate rolling =
      deployment.spec.strategy.rolling_update.value_or(kube::RollingUpdate{});
  const int32_t wanted = WantedBy(deployment);
  const kube::IntOrString quarter("25%");
  limits.max_surge =
      LimitOf(rolling.max_surge.value_or(quarter), wanted, kube::IntOrString::Rounding::kCeil, 0);
  limits.max_unavailable = LimitOf(rolling.max_unavailable.value_or(quarter), wanted,
                                   kube::IntOrString::Rounding::kFloor, 0);
  if (limits.max_surge == 0 && limits.max_unavailable == 0) limits.max_unavailable = 1;
  limits.max_unavailable = std::min(limits.max_unavailable, wanted);
  return limits;
}

int32_t MostReplicas(const kube::Deployment& deployment) {
  return ToReplicas(int64_t{WantedBy(deployment)} + LimitsOf(deployment).max_surge);
}

int32_t NewSetSize(const kube::Deployment& deployment, const ReplicaSetList& all, int32_t current) {
  const int32_t wanted = WantedBy(deployment);
  if (!IsRolling(deployment)) return wanted;
  if (current >= wanted) return wanted;
  const int64_t room = MostReplicas(deployment) - TotalWanted(all);
  return room <= 0 ? current : ToReplicas(std::min<int64_t>(current + room, wanted));
}

std::vector<Resize> ShrinkOldSets(const kube::Deployment& deployment, const ReplicaSetList& old,
                                  const kube::ReplicaSet& newest) {
  std::vector<Resize> sizes;
  for (const ReplicaSetPtr& set : OldestFirst(old)) sizes.push_back({set, WantedBy(*set)});
  const int32_t least = WantedBy(deployment) - LimitsOf(deployment).max_unavailable;
  const int32_t new_missing = WantedBy(newest) - newest.status.available_replicas;
  const int64_t spare = TotalWanted(old) + WantedBy(newest) - least - new_missing;
  const int64_t idle =
      Take(sizes, spare, [](const auto& set) { return set.status.available_replicas; });
  const int64_t available = TotalAvailable(old) + newest.status.available_replicas;
  Take(sizes, std::min(spare - idle, available - least), [](const auto&) { return 0; });
  DropUnchanged(sizes);
  return sizes;
}

std::vector<Resize> ScaleInProportion(const kube::Deployment& deployment,
                                      const ReplicaSetList& sets) {
  const int32_t wanted = WantedBy(deployment);
  const int32_t allowed = wanted > 0 ? MostReplicas(deployment) : 0;
  int64_t rest = allowed - TotalWanted(sets);
  std::vector<Resize> sizes;
  for (const ReplicaSetPtr& set : sets) sizes.push_back({set, WantedBy(*set)});
  // Larger sets take their share first; among equals the newest when growing, else the oldest.
  std::sort(sizes.begin(), sizes.end(), [&](const Resize& a, const Resize& b) {
    if (a.replicas != b.replicas) return a.replicas > b.replicas;
    return rest > 0 ? MadeEarlier(b.set, a.set) : MadeEarlier(a.set, b.set);
  });
  for (Resize& resize : sizes) {
    const int32_t before = IntAnnotation(resize.set->metadata, kMaxReplicas).value_or(wanted);
    const double share = before > 0 ? double(resize.replicas) * allowed / before : 0;
    const int64_t change = std::llround(share) - resize.replicas;
    const int64_t given =
        std::clamp(change, std::min<int64_t>(rest, 0), std::max<int64_t>(rest, 0));
    resize.replicas = ToReplicas(resize.replicas + given);
    rest -= given;
  }
  if (!sizes.empty()) {
    sizes.front().replicas = ToReplicas(std::max<int64_t>(sizes.front().replicas + rest, 0));
  }
  return sizes;
}

std::optional<int32_t> IntAnnotation(const kube::ObjectMeta& meta, const char* key) {
  const std::optional<int64_t> number = ParseInt(kube::ValueOf(meta.annotations, key));
  if (!number || *number != static_cast<int32_t>(*number)) return std::nullopt;
  return static_cast<int32_t>(*number);
}

}  // namespace koord::localcluster
