#include "scheduler/plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hot.h"
#include "scheduler/plugins/inter_pod_affinity/incoming_terms.h"
#include "scheduler/plugins/inter_pod_affinity/term_sums.h"
#include "scheduler/topology/row_passes.h"

namespace koord::scheduler {

// What is counted for one shape. Each count is by the values of one topology key.
class InterPodAffinity::State : public PluginState {
 public:
  struct Preferred {
    SeenCounts counts;
    int32_t weight;
  };

  State(const PodShape& shape, bool weighs_others)
      : pod(*shape.sample), others(shape, weighs_others) {}

  bool has_required_terms() const { return !required.empty() || !forbidden.empty(); }
  // A pod that nobody on a node means is not asked about; pods that are only promised a node do not
  // change that.
  bool is_restricted() const { return has_required_terms() || others.forbids(); }
  // 0: no pod in the cluster is what the required affinity asks for.
  int64_t required_total() const {
    int64_t total = 0;
    for (const SeenCounts& counts : required) total += counts.total();
    return total;
  }
  bool scores() const {
    return others.weighs() || std::ranges::any_of(preferred, [](const Preferred& each) {
             return each.counts.total() != 0;
           });
  }
  void Refresh(const PodIndex& pods, const PodQuery& query) {
    for (SeenCounts& counts : required) counts.Refresh(pods, query);
    for (SeenCounts& counts : forbidden) counts.Refresh(pods, query);
    for (Preferred& each : preferred) each.counts.Refresh(pods, query);
  }

  const kube::Pod& pod;
  std::string error;  // why the pod's terms make no sense
  IncomingTerms terms;
  std::vector<SeenCounts> required;  // pods that match all required terms
  std::vector<SeenCounts> forbidden;
  std::vector<Preferred> preferred;
  // The pod may be the first of a group that looks for its own kind.
  bool may_be_first = false;
  TermSums others;  // what running pods say
};

InterPodAffinity::InterPodAffinity(const PluginContext& context, const InterPodAffinityArgs& args)
    : nodes_(context.nodes()),
      namespaces_(context.objects.namespaces),
      args_(args),
      affinity_reason_(context.reasons.Intern("node(s) didn't match pod affinity rules")),
      anti_affinity_reason_(context.reasons.Intern("node(s) didn't match pod anti-affinity rules")),
      existing_reason_(
          context.reasons.Intern("node(s) didn't satisfy existing pods anti-affinity rules")),
      pods_(nodes_, namespaces_),
      groups_(nodes_, args.hard_pod_affinity_weight) {
  context.ledger.AddListener(*this);
  context.objects.namespaces.AddWatcher([this](const auto& before, const auto& after) {
    static const kube::Shared<kube::Labels> kNone;
    const kube::Labels& old_labels = before ? before->metadata.labels : kNone;
    const kube::Labels& new_labels = after ? after->metadata.labels : kNone;
    if (old_labels != new_labels) pods_.NamespaceChanged((after ? after : before)->metadata.name);
  });
}

void InterPodAffinity::OnPodAdded(const PodInfo& pod) {
  pods_.Add(pod);
  groups_.Add(pod);
}

void InterPodAffinity::OnPodRemoved(const PodInfo& pod) {
  pods_.Remove(pod);
  groups_.Remove(pod);
}

// ---- Compiling

std::unique_ptr<PluginState> InterPodAffinity::Compile(const PodShape& shape) {
  StatusOr<IncomingTerms> terms = IncomingTerms::Of(*shape.sample);
  const bool prefers = terms.ok() && !terms->preferred.empty();
  auto state =
      std::make_unique<State>(shape, prefers || !args_.ignore_preferred_terms_of_existing_pods);
  if (!terms.ok()) {
    state->error = fmt::format("parsing pod: {}", Message(terms.status()));
    return state;
  }
  state->terms = *std::move(terms);
  const auto counts_of = [&](std::vector<PodSelector> selectors, const std::string& key) {
    return SeenCounts(pods_.Counts(std::move(selectors), {.key = nodes_.Label(key)}));
  };
  std::vector<PodSelector> all_required;
  for (const IncomingTerm& term : state->terms.required) all_required.push_back(term.selector);
  for (const IncomingTerm& term : state->terms.required) {
    state->required.push_back(counts_of(all_required, term.key));
  }
  for (const IncomingTerm& term : state->terms.forbidden) {
    state->forbidden.push_back(counts_of({term.selector}, term.key));
  }
  for (const IncomingTerm& term : state->terms.preferred) {
    state->preferred.push_back({counts_of({term.selector}, term.key), term.weight});
  }
  return state;
}

PreFilterResult InterPodAffinity::PreFilter(PodQuery& query) {
  const State& state = query.state<State>(slot());
  if (!state.error.empty()) return {Verdict::Unresolvable(state.error)};
  return PreFilterResult::Success();
}

InterPodAffinity::State& InterPodAffinity::Current(const PodQuery& query) {
  State& state = query.state<State>(slot());
  state.Refresh(pods_, query);
  state.others.Refresh(groups_, namespaces_, query);
  state.may_be_first = !state.required.empty() && state.required_total() == 0 &&
                       state.terms.RequiredMatch(state.pod, namespaces_);
  return state;
}

uint64_t InterPodAffinity::WideVersion(const PodQuery& query) {
  const State& state = Current(query);
  if (!state.has_required_terms() && !state.others.forbids() && !state.scores()) return 0;
  uint64_t version = 1 + state.others.version();
  for (const auto& counts : state.required) version += counts.presence_version();
  for (const auto& counts : state.forbidden) version += counts.presence_version();
  for (const State::Preferred& each : state.preferred) version += each.counts.version();
  return 2 * version + (state.may_be_first ? 1 : 0);
}

// ---- Filter

void InterPodAffinity::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  const State& state = Current(query);
  const auto ids = [&](const LabelColumn& key) { return key.data() + rows.begin; };
  for (const auto& counts : state.required) {
    const LabelColumn& key = *counts.rule().key;
    if (state.may_be_first) {
      DropWhereMissing(ids(key), rows.size(), keep);
    } else {
      DropWhereZero(ids(key), counts.data(), rows.size(), keep);
    }
  }
  for (const auto& counts : state.forbidden) {
    if (counts.total() == 0) continue;
    DropWhereNonZero(ids(*counts.rule().key), counts.data(), rows.size(), keep);
  }
  for (const TermSums::Key& key : state.others.keys()) {
    if (key.forbidden_values == 0) continue;
    DropWhereNonZero(ids(*key.column), key.forbidding.data(), rows.size(), keep);
  }
}

RowVerdict InterPodAffinity::Check(const PodQuery& query, const RowView& row) {
  State& state = Current(query);
  if (!state.is_restricted()) return {};
  if (!FindsRequired(state, query, row)) return RowVerdict::Unresolvable(affinity_reason_);
  if (FindsForbidden(state, query, row)) return RowVerdict::Unschedulable(anti_affinity_reason_);
  if (IsForbidden(state, query, row)) return RowVerdict::Unschedulable(existing_reason_);
  return {};
}

FilterPlugin::PodsRead InterPodAffinity::Reads(const PodQuery& query) {
  return Current(query).is_restricted() ? PodsRead::kAny : PodsRead::kNone;
}

bool InterPodAffinity::FindsRequired(const State& state, const PodQuery& query,
                                     const RowView& row) const {
  if (state.required.empty()) return true;
  // The same pods for all keys.
  const int32_t change = state.required.front().ChangeBy(row.delta, row.row, pods_, query);
  int64_t total = state.required_total();
  bool all_found = true;
  for (const auto& counts : state.required) {
    const ValueId value = counts.rule().key->At(row.row);
    if (value == kNoValue) return false;
    total += change;
    all_found = all_found && counts.Of(value) + change > 0;
  }
  if (all_found) return true;
  return total == 0 && state.terms.RequiredMatch(state.pod, namespaces_);
}

bool InterPodAffinity::FindsForbidden(const State& state, const PodQuery& query,
                                      const RowView& row) const {
  return std::ranges::any_of(state.forbidden, [&](const auto& counts) {
    const ValueId value = counts.rule().key->At(row.row);
    return value != kNoValue &&
           counts.Of(value) + counts.ChangeBy(row.delta, row.row, pods_, query) > 0;
  });
}

bool InterPodAffinity::IsForbidden(State& state, const PodQuery& query, const RowView& row) {
  absl::InlinedVector<int32_t, 4> changes;
  const auto add = [&](const std::vector<const PodInfo*>& pods, int32_t by) {
    for (const PodInfo* pod : pods) {
      if (!pod->shape->has_required_anti_affinity || query.IsAbsent(*pod)) continue;
      const std::span<const GroupId> groups = groups_.GroupsOf(*pod->shape);
      state.others.Refresh(groups_, namespaces_, query);  // they may be new
      changes.resize(state.others.keys().size(), 0);
      for (const GroupId id : groups) {
        const int key = state.others.KeyOf(id);
        if (key >= 0 && groups_.groups()[id].forbids) changes[static_cast<size_t>(key)] += by;
      }
    }
  };
  if (row.delta != nullptr) {
    add(row.delta->removed, -1);
    add(row.delta->added, 1);
  }
  const auto& keys = state.others.keys();
  changes.resize(keys.size(), 0);
  for (size_t i = 0; i < keys.size(); ++i) {
    const ValueId value = keys[i].column->At(row.row);
    if (value != kNoValue && keys[i].forbidding[value] + changes[i] > 0) return true;
  }
  return false;
}

// ---- Score

Verdict InterPodAffinity::PreScore(PodQuery& query, std::span<const uint8_t>) {
  const State& state = Current(query);
  if (!state.error.empty()) return Verdict::Error(state.error);
  return state.scores() ? Verdict::Success() : Verdict::Skip();
}

void InterPodAffinity::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  const State& state = Current(query);
  std::fill_n(scores, rows.size(), 0);
  for (const TermSums::Key& key : state.others.keys()) {
    if (key.worth_terms == 0) continue;
    AddSums(key.column->data() + rows.begin, key.worth.data(), rows.size(), scores);
  }
  for (const auto& [counts, weight] : state.preferred) {
    if (counts.total() == 0) continue;
    AddWeightedCounts(counts.rule().key->data() + rows.begin, counts.data(), weight, rows.size(),
                      scores);
  }
}

namespace {

KOORD_HOT void SharesOf(double whole, size_t rows, int32_t* __restrict parts) {
  for (size_t i = 0; i < rows; ++i) {
    parts[i] = static_cast<int32_t>(100.0 * (static_cast<double>(parts[i]) / whole));
  }
}

void NormalizeSmall(ScoreRange range, std::span<int64_t> scores) {
  std::array<int32_t, kPassBlock> parts;
  for (size_t begin = 0; begin < scores.size(); begin += kPassBlock) {
    const size_t rows = std::min(kPassBlock, scores.size() - begin);
    OffsetsOf(scores.data() + begin, range.min, range.max, rows, parts.data());
    SharesOf(static_cast<double>(range.max - range.min), rows, parts.data());
    Widen(parts.data(), rows, scores.data() + begin);
  }
}

void NormalizeLarge(int64_t min, int64_t difference, std::span<int64_t> scores) {
  for (int64_t& score : scores) {
    const int64_t above = std::clamp<int64_t>(score - min, 0, difference);
    const double share = static_cast<double>(above) / static_cast<double>(difference);
    score = static_cast<int64_t>(static_cast<double>(kMaxScore) * share);
  }
}

}  // namespace

void InterPodAffinity::Normalize(const PodQuery&, ScoreRange range, std::span<int64_t> scores) {
  const int64_t difference = range.max - range.min;
  if (difference <= 0) {
    std::ranges::fill(scores, 0);
  } else if (difference <= std::numeric_limits<int32_t>::max()) {
    NormalizeSmall(range, scores);
  } else {
    NormalizeLarge(range.min, difference, scores);
  }
}

// ---- What may help

namespace {

bool Matches(const IncomingTerm& term, const kube::Pod* pod, const NamespaceCache& namespaces) {
  return pod != nullptr &&
         term.selector.Matches(pod->metadata.ns, pod->metadata.labels, namespaces);
}

// A required anti-affinity of one pod means the other.
bool Forbids(const kube::Pod& pod, const kube::Pod& other, const NamespaceCache& namespaces) {
  const StatusOr<IncomingTerms> terms = IncomingTerms::Of(pod);
  return terms.ok() && std::ranges::any_of(terms->forbidden, [&](const IncomingTerm& term) {
           return Matches(term, &other, namespaces);
         });
}

// A pod that came, went or was relabelled is one that the rejected pod looks for or keeps away
// from.
bool Concerns(const ClusterEvent& event, const kube::Pod& rejected,
              const NamespaceCache& namespaces) {
  const kube::Pod* before = event.pod_before.get();
  const kube::Pod* after = event.pod_after.get();
  if (before != nullptr && Forbids(*before, rejected, namespaces)) return true;
  const StatusOr<IncomingTerms> terms = IncomingTerms::Of(rejected);
  if (!terms.ok()) return false;
  // One more that is asked for, or one less that is not wanted. The last one that goes away may
  // make the rejected pod the first of its group.
  const auto either = [&](const IncomingTerm& term) {
    return Matches(term, before, namespaces) || Matches(term, after, namespaces);
  };
  return std::ranges::any_of(terms->required, either) ||
         std::ranges::any_of(terms->forbidden, [&](const IncomingTerm& term) {
           return Matches(term, before, namespaces);
         });
}

}  // namespace

bool InterPodAffinity::MightCure(const kube::Pod& rejected, const ClusterEvent& event) {
  switch (event.kind) {
    case EventKind::kNodeAdded:
    case EventKind::kPodUpdated:
    case EventKind::kNamespaceChanged:
    case EventKind::kForced:
      return true;
    case EventKind::kNodeUpdated:
      return event.node_changes.labels;
    case EventKind::kAssignedPodAdded:
    case EventKind::kAssignedPodUpdated:
    case EventKind::kAssignedPodRemoved:
      return Concerns(event, rejected, namespaces_);
    default:
      return false;
  }
}

}  // namespace koord::scheduler
