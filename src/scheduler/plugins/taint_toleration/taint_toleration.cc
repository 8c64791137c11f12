#include "scheduler/plugins/taint_toleration/taint_toleration.h"

#include <algorithm>
#include <vector>

#include "scheduler/scoring/normalize.h"

namespace koord::scheduler {
namespace {

// What the pod makes of each set of taints; looked at again when there are others.
struct TaintState final : PluginState {
  std::vector<uint8_t> tolerated;    // by set
  std::vector<int64_t> discouraged;  // by set: PreferNoSchedule taints that are not tolerated
  bool tolerates_all = true;
  uint64_t version = 0;  // of the sets
};

int64_t CountDiscouraging(std::span<const kube::Taint> taints,
                          std::span<const kube::Toleration> tolerations) {
  return std::ranges::count_if(taints, [&](const kube::Taint& taint) {
    return taint.effect == kube::kPreferNoSchedule && !kube::Tolerates(tolerations, taint);
  });
}

void LookAtSets(const PodQuery& query, TaintState& state) {
  const NodeTable& nodes = query.nodes();
  const auto& tolerations = query.shape().spec().tolerations;
  state = {};
  state.version = nodes.taint_sets_version();
  for (size_t set = 0; set < nodes.taint_set_count(); ++set) {
    const auto& taints = nodes.taints(static_cast<TaintSetId>(set));
    const bool tolerated = kube::FindUntolerated(taints, tolerations) == nullptr;
    state.tolerated.push_back(tolerated ? 1 : 0);
    state.discouraged.push_back(CountDiscouraging(taints, tolerations));
    state.tolerates_all &= tolerated;
  }
}

TaintState& StateOf(const PodQuery& query, size_t slot) {
  auto& state = query.state<TaintState>(slot);
  if (state.version != query.nodes().taint_sets_version()) LookAtSets(query, state);
  return state;
}

}  // namespace

std::unique_ptr<PluginState> TaintToleration::Compile(const PodShape&) {
  return std::make_unique<TaintState>();
}

void TaintToleration::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  const TaintState& state = StateOf(query, slot());
  if (state.tolerates_all) return;
  const uint8_t* tolerated = state.tolerated.data();
  const TaintSetId* sets = query.nodes().taint_sets() + rows.begin;
  for (size_t i = 0; i < rows.size(); ++i) keep[i] &= tolerated[sets[i]];
}

RowVerdict TaintToleration::Check(const PodQuery& query, const RowView& row) {
  const TaintState& state = StateOf(query, slot());
  if (state.tolerated[query.nodes().taint_sets()[row.row]]) return {};
  return RowVerdict::Unresolvable(reason_);
}

void TaintToleration::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  if (!query.nodes().has_preferred_taints()) {
    std::fill_n(scores, rows.size(), 0);
    return;
  }
  const int64_t* discouraged = StateOf(query, slot()).discouraged.data();
  const TaintSetId* sets = query.nodes().taint_sets() + rows.begin;
  for (size_t i = 0; i < rows.size(); ++i) scores[i] = discouraged[sets[i]];
}

void TaintToleration::Normalize(const PodQuery&, ScoreRange range, std::span<int64_t> scores) {
  NormalizeByMaxReversed(range.max, scores);
}

bool TaintToleration::MightCure(const kube::Pod& rejected, const ClusterEvent& event) {
  const auto may_run_on = [&](const kube::Node& node) {
    return kube::FindUntolerated(node.spec.taints, rejected.spec.tolerations) == nullptr;
  };
  switch (event.kind) {
    case EventKind::kForced:
      return true;
    case EventKind::kNodeAdded:
      return event.node_after == nullptr || may_run_on(*event.node_after);
    case EventKind::kNodeUpdated:
      return event.node_changes.taints &&
             (event.node_after == nullptr || may_run_on(*event.node_after)) &&
             (event.node_before == nullptr || !may_run_on(*event.node_before));
    case EventKind::kPodUpdated:
      return event.pod_before == nullptr || event.pod_after == nullptr ||
             event.pod_before->spec.tolerations != event.pod_after->spec.tolerations;
    default:
      return false;
  }
}

}  // namespace koord::scheduler
