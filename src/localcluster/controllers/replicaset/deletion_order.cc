#include "localcluster/controllers/replicaset/deletion_order.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <tuple>

#include "base/strings.h"

namespace koord::localcluster {
namespace {

int PhaseRank(std::string_view phase) {
  if (phase == "Pending") return 0;
  if (phase == "Unknown") return 1;
  return 2;
}

// Ages within a factor of two are alike.
int AgeBucket(Duration age) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  return std::bit_width(static_cast<uint64_t>(std::max<int64_t>(seconds, 0)));
}

int32_t DeletionCost(const kube::Pod& pod) {
  const std::string_view text =
      kube::ValueOf(pod.metadata.annotations, "controller.kubernetes.io/pod-deletion-cost");
  const int64_t cost = ParseInt(text).value_or(0);
  return cost == static_cast<int32_t>(cost) ? static_cast<int32_t>(cost) : 0;
}

int32_t Restarts(const kube::Pod& pod) {
  int32_t most = 0;
  for (const kube::ContainerStatus& status : pod.status.container_statuses) {
    most = std::max(most, status.restart_count);
  }
  return most;
}

// Smaller goes first.
using Rank = std::tuple<bool, int, bool, int32_t, int, int, int32_t, int, std::string_view>;

Rank RankOf(const kube::Pod& pod, const std::map<std::string, int>& neighbours, WallTime now) {
  const std::optional<WallTime> ready_since = ReadySince(pod);
  const auto near = neighbours.find(pod.spec.node_name);
  return {kube::IsAssigned(pod),
          PhaseRank(pod.status.phase),
          ready_since.has_value(),
          DeletionCost(pod),
          near == neighbours.end() ? 0 : -near->second,
          ready_since ? AgeBucket(now - *ready_since) : 0,
          -Restarts(pod),
          AgeBucket(now - pod.metadata.creation_timestamp),
          pod.metadata.uid};
}

}  // namespace

void SortForDeletion(PodList& pods, const std::map<std::string, int>& neighbours, WallTime now) {
  std::sort(pods.begin(), pods.end(), [&](const PodPtr& a, const PodPtr& b) {
    return RankOf(*a, neighbours, now) < RankOf(*b, neighbours, now);
  });
}

}  // namespace koord::localcluster
