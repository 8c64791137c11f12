#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/node_metric.h"
#include "scheduler/cluster/pod_info.h"
#include "scheduler/plugins/load_aware_scheduling/load_amounts.h"

namespace koord::scheduler {

// Which of a node's reported usages is meant: the plain one, or a percentile over some time.
struct UsageKind {
  std::string type;     // avg, p50, ...; "": the plain usage
  Duration duration{};  // zero: the longest that is reported

  bool operator==(const UsageKind&) const = default;
};

// The usage of a kind. A percentile of any duration that is not reported is the plain usage; of a
// stated duration it is unknown.
std::optional<LoadAmounts> UsageOf(const api::NodeUsage& usage, const UsageKind& kind,
                                   const LoadResources& tracked);

// The load of one node beyond what its usage says: the pods that were given the node, each with an
// estimate that counts as long as the reported usage cannot show the pod yet.
//
// Pods stand in the order of the node table's own list, so that nothing is searched for.
class NodeLoad {
 public:
  struct Pod {
    const PodInfo* info = nullptr;
    LoadAmounts estimate;
    LoadAmounts reported;
    WallTime timestamp{};  // when it got the node
    // What it looked like then, where the object itself does not say when that was.
    std::shared_ptr<const kube::Pod> seen;
    WallTime deadline = WallTime::min();  // the estimate counts at least until then
    uint32_t key_hash = 0;                // of namespace and name
    bool counts = false;                  // reserve pods do not
    bool estimated = false;               // some amount is not zero
    bool prod = false;
    bool is_reported = false;
    bool reported_as_prod = false;
  };
  struct Sums {
    LoadAmounts prod_usage;      // reported, of prod pods (and the system, if it is included)
    LoadAmounts node_delta;      // estimates that are not yet visible in the usage
    LoadAmounts prod_delta;      // the same of prod pods
    LoadAmounts node_estimated;  // all estimates
  };

  explicit NodeLoad(const LoadResources& tracked);

  // The pod that was added to the end of the node's list, one whose object is newer, and the one
  // at a place of the list that is taken by the last one.
  void AddPod(Pod pod);
  void SetTimes(size_t place, WallTime timestamp, WallTime deadline);
  void SetSeen(size_t place, std::shared_ptr<const kube::Pod> seen) {
    pods_[place].seen = std::move(seen);
  }
  void RemovePod(size_t place);

  // Null if there is none.
  void SetMetric(std::shared_ptr<const api::NodeMetric> metric, bool prod_includes_system);

  const api::NodeMetric* metric() const { return metric_.get(); }
  // What it says of the node as a whole; null if it says nothing.
  const api::NodeUsage* usage() const;
  const std::vector<Pod>& pods() const { return pods_; }
  const Sums& sums() const { return sums_; }

  bool IsInNodeDelta(const Pod& pod) const;
  bool IsInProdDelta(const Pod& pod) const;

  static uint32_t HashOf(std::string_view ns, std::string_view name);

 private:
  bool NeedsEstimation(const Pod& pod) const;
  // Adds (or takes away) what one pod brings.
  void Count(const Pod& pod, int sign);
  void FindReport(Pod& pod) const;
  void TakeReport(Pod& pod, const api::PodUsage& usage) const;
  void ResetSums(bool prod_includes_system);

  const LoadResources* tracked_;
  std::shared_ptr<const api::NodeMetric> metric_;
  WallTime update_time_ = WallTime::min();     // the last that was stated
  WallTime visible_before_ = WallTime::min();  // pods that are older show in the usage
  std::vector<uint32_t> report_hashes_;        // of the metric's pods
  std::vector<Pod> pods_;
  Sums sums_;
};

}  // namespace koord::scheduler
