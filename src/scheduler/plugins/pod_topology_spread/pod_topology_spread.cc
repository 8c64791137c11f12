#include "scheduler/plugins/pod_topology_spread/pod_topology_spread.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/plugins/pod_topology_spread/hard_spread.h"
#include "scheduler/plugins/pod_topology_spread/soft_spread.h"
#include "scheduler/topology/row_passes.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kReason = "node(s) didn't match pod topology spread constraints";

bool HasHard(const std::vector<kube::TopologySpreadConstraint>& constraints) {
  return std::ranges::any_of(constraints, [](const kube::TopologySpreadConstraint& each) {
    return each.when_unsatisfiable == kDoNotSchedule;
  });
}

std::vector<std::string> KeysOf(const std::vector<SpreadConstraint>& constraints) {
  std::vector<std::string> keys;
  for (const SpreadConstraint& each : constraints) keys.push_back(each.key);
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace

class PodTopologySpread::State : public PluginState {
 public:
  bool derived = false;         // from what the pod belongs to
  uint64_t owners_version = 0;  // of all namespaces
  uint64_t own_namespace_version = 0;
  std::string selector;  // that was derived
  std::string hard_error;
  std::string soft_error;
  std::vector<HardSpread> hard;
  SoftSpread soft;
  uint64_t generation = 0;  // of the constraints
  uint64_t version = 0;
};

PodTopologySpread::PodTopologySpread(const PluginContext& context,
                                     const PodTopologySpreadArgs& args)
    : nodes_(context.nodes()),
      system_defaults_(args.defaulting_type != PodTopologySpreadArgs::kList),
      defaults_(system_defaults_ ? SystemDefaults() : args.default_constraints),
      has_hard_defaults_(HasHard(defaults_)),
      missing_reason_(context.reasons.Intern(fmt::format("{} (missing required label)", kReason))),
      skew_reason_(context.reasons.Intern(kReason)),
      pods_(nodes_, context.objects.namespaces),
      row_sets_(nodes_),
      owners_(context.objects) {
  context.ledger.AddListener(*this);
}

// ---- Compiling

std::unique_ptr<PluginState> PodTopologySpread::Compile(const PodShape& shape) {
  auto state = std::make_unique<State>();
  if (shape.spec().topology_spread_constraints.empty()) {
    state->derived = !defaults_.empty();
    if (state->derived) Derive(shape, *state);
    return state;
  }
  const auto hard = OwnConstraints(*shape.sample, kDoNotSchedule);
  const auto soft = OwnConstraints(*shape.sample, kScheduleAnyway);
  if (!hard.ok()) {
    state->hard_error =
        fmt::format("obtaining pod's hard topology spread constraints: {}", Message(hard.status()));
  }
  if (!soft.ok()) {
    state->soft_error =
        fmt::format("obtaining pod's soft topology spread constraints: {}", Message(soft.status()));
  }
  using Constraints = std::vector<SpreadConstraint>;
  SetConstraints(shape, hard.ok() ? *hard : Constraints(), soft.ok() ? *soft : Constraints(),
                 *state);
  return state;
}

// Services and controllers come and go: what follows from them is looked at again when they did.
void PodTopologySpread::Derive(const PodShape& shape, State& state) {
  if (state.owners_version == owners_.version()) return;
  const bool is_first = state.owners_version == 0;
  state.owners_version = owners_.version();
  const uint64_t own_version = owners_.VersionOf(shape.ns());
  if (!is_first && state.own_namespace_version == own_version) return;
  state.own_namespace_version = own_version;
  const kube::LabelMatcher selector = owners_.SelectorFor(*shape.sample);
  std::string text = selector.ToString();
  if (!is_first && text == state.selector) return;
  state.selector = std::move(text);
  SetConstraints(shape, DefaultConstraints(*shape.sample, defaults_, kDoNotSchedule, selector),
                 DefaultConstraints(*shape.sample, defaults_, kScheduleAnyway, selector), state);
}

void PodTopologySpread::SetConstraints(const PodShape& shape,
                                       const std::vector<SpreadConstraint>& hard,
                                       const std::vector<SpreadConstraint>& soft, State& state) {
  state.hard.clear();
  const std::vector<std::string> hard_keys = KeysOf(hard);
  for (const SpreadConstraint& each : hard) {
    state.hard.emplace_back(each, CountsFor(shape, each, hard_keys, false));
  }
  const bool needs_all_keys = !state.derived || !system_defaults_;
  const std::vector<std::string> soft_keys =
      needs_all_keys ? KeysOf(soft) : std::vector<std::string>();
  std::vector<SoftSpread::Constraint> constraints;
  for (const SpreadConstraint& each : soft) {
    constraints.emplace_back(each, nodes_.Label(each.key),
                             CountsFor(shape, each, soft_keys, each.key == kHostnameKey));
  }
  state.soft.Set(std::move(constraints), needs_all_keys);
  // Versions of other counts must not look like those of the ones before.
  state.generation += state.version + 1;
}

std::shared_ptr<DomainCounts> PodTopologySpread::CountsFor(const PodShape& shape,
                                                           const SpreadConstraint& constraint,
                                                           const std::vector<std::string>& keys,
                                                           bool by_row) {
  CountingRule rule{.skip_terminating = true};
  if (!by_row) {
    rule.key = nodes_.Label(constraint.key);
    rule.rows = row_sets_.For({.keys = keys,
                               .selected_by = constraint.honors_affinity ? &shape.spec() : nullptr,
                               .tolerated_by = constraint.honors_taints ? &shape.spec() : nullptr});
  }
  return pods_.Counts({PodSelector(shape.ns(), constraint.counted)}, std::move(rule));
}

PreFilterResult PodTopologySpread::PreFilter(PodQuery& query) {
  const State& state = query.state<State>(slot());
  if (!state.hard_error.empty()) return {Verdict::Error(state.hard_error)};
  const bool may_have_hard = state.derived ? has_hard_defaults_ : !state.hard.empty();
  return may_have_hard ? PreFilterResult::Success() : PreFilterResult::Skip();
}

PodTopologySpread::State& PodTopologySpread::Current(const PodQuery& query) {
  State& state = query.state<State>(slot());
  if (state.derived) Derive(query.shape(), state);
  state.version = state.generation + state.soft.Refresh(pods_, query);
  for (HardSpread& each : state.hard) {
    each.Refresh(nodes_, pods_, query);
    state.version += each.version();
  }
  return state;
}

uint64_t PodTopologySpread::WideVersion(const PodQuery& query) {
  const State& state = Current(query);
  return state.hard.empty() && state.soft.empty() ? 0 : state.version;
}

// ---- Filter

void PodTopologySpread::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  const State& state = Current(query);
  for (const HardSpread& each : state.hard) {
    DropWhereNonZero(each.key().data() + rows.begin, each.full(), rows.size(), keep);
  }
}

RowVerdict PodTopologySpread::Check(const PodQuery& query, const RowView& row) {
  const State& state = Current(query);
  for (const HardSpread& each : state.hard) {
    const ValueId value = each.key().At(row.row);
    if (value == kNoValue) return RowVerdict::Unresolvable(missing_reason_);
    if (each.IsFull(value, each.counts().ChangeBy(row.delta, row.row, pods_, query))) {
      return RowVerdict::Unschedulable(skew_reason_);
    }
  }
  return {};
}

// ---- Score

Verdict PodTopologySpread::PreScore(PodQuery& query, std::span<const uint8_t> feasible) {
  State& state = Current(query);
  if (!state.soft_error.empty()) return Verdict::Error(state.soft_error);
  if (state.soft.empty()) return Verdict::Skip();
  state.soft.SetFeasible(nodes_, feasible);
  return Verdict::Success();
}

void PodTopologySpread::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  query.state<State>(slot()).soft.Score(rows, scores);
}

void PodTopologySpread::Normalize(const PodQuery&, ScoreRange range, std::span<int64_t> scores) {
  NormalizeSpread(range, scores);
}

// ---- What may help

// A pod of the same namespace that is counted, or stops being so.
bool PodTopologySpread::Concerns(const kube::Pod& rejected, const ClusterEvent& event) const {
  const StatusOr<std::vector<SpreadConstraint>> own = OwnConstraints(rejected, kDoNotSchedule);
  const bool uses_defaults = rejected.spec.topology_spread_constraints.empty();
  const auto is_counted = [&](const kube::Pod* pod) {
    if (pod == nullptr || pod->metadata.ns != rejected.metadata.ns) return false;
    if (uses_defaults || !own.ok()) return true;
    return std::ranges::any_of(*own, [&](const SpreadConstraint& each) {
      return each.counted && each.counted->Matches(pod->metadata.labels);
    });
  };
  return is_counted(event.pod_before.get()) || is_counted(event.pod_after.get());
}

bool PodTopologySpread::MightCure(const kube::Pod& rejected, const ClusterEvent& event) {
  switch (event.kind) {
    case EventKind::kNodeAdded:
    case EventKind::kNodeRemoved:
    case EventKind::kPodUpdated:
    case EventKind::kForced:
      return true;
    case EventKind::kNodeUpdated:
      return event.node_changes.labels || event.node_changes.taints;
    case EventKind::kServiceChanged:
      return has_hard_defaults_ && rejected.spec.topology_spread_constraints.empty();
    case EventKind::kAssignedPodAdded:
    case EventKind::kAssignedPodUpdated:
    case EventKind::kAssignedPodRemoved:
      return Concerns(rejected, event);
    default:
      return false;
  }
}

}  // namespace koord::scheduler
