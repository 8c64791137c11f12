#include "scheduler/plugins/node_affinity/node_affinity.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "base/hot.h"
#include "scheduler/scoring/normalize.h"
#include "scheduler/scoring/percent.h"

namespace koord::scheduler {
namespace {

using Names = std::set<std::string, std::less<>>;

KOORD_HOT void AddWhere(const uint8_t* matches, int32_t weight, size_t n, int64_t* sums) {
  for (size_t i = 0; i < n; ++i) sums[i] += matches[i] * weight;
}

const kube::NodeSelector* RequiredOf(const kube::NodeAffinity& affinity) {
  return affinity.required ? &*affinity.required : nullptr;
}

// The nodes that a term names: those that all its requirements about names have in common; nothing
// if it has no such requirement.
std::optional<Names> NamesOf(const kube::NodeSelectorTerm& term) {
  std::optional<Names> names;
  for (const kube::NodeSelectorRequirement& each : term.match_fields) {
    if (each.key != "metadata.name" || each.op != "In") continue;
    const Names named(each.values.begin(), each.values.end());
    if (!names) {
      names = named;
    } else {
      std::erase_if(*names, [&](const std::string& name) { return !named.contains(name); });
    }
  }
  return names;
}

// Of all terms together; nothing if one of them does not name nodes, or if there are none.
std::optional<Names> NamesOf(const kube::NodeSelector& selector) {
  std::optional<Names> all;
  for (const kube::NodeSelectorTerm& term : selector.node_selector_terms) {
    std::optional<Names> names = NamesOf(term);
    if (!names) return {};
    if (!all) all.emplace();
    all->merge(*names);
  }
  return all;
}

const std::vector<kube::PreferredSchedulingTerm>& PreferredOf(const kube::PodSpec& pod) {
  static const std::vector<kube::PreferredSchedulingTerm> kNone;
  if (!pod.affinity || !pod.affinity->node_affinity) return kNone;
  return pod.affinity->node_affinity->preferred;
}

}  // namespace

struct NodeAffinity::State final : PluginState {
  explicit State(NodeMatcher required) : required(std::move(required)) {}

  NodeMatcher required;
  std::vector<Preferred> preferred;
};

NodeAffinity::NodeAffinity(const PluginContext& context, NodeAffinityArgs args)
    : nodes_(context.nodes()),
      added_(args.added_affinity ? std::move(*args.added_affinity) : kube::NodeAffinity()),
      added_required_(nodes_, {}, RequiredOf(added_)),
      added_preferred_(Compile(added_.preferred)),
      pod_mismatch_(context.reasons.Intern("node(s) didn't match Pod's node affinity/selector")),
      added_mismatch_(
          context.reasons.Intern("node(s) didn't match scheduler-enforced node affinity")) {}

std::vector<NodeAffinity::Preferred> NodeAffinity::Compile(
    const std::vector<kube::PreferredSchedulingTerm>& terms) const {
  std::vector<Preferred> preferred;
  for (const kube::PreferredSchedulingTerm& term : terms) {
    if (term.weight == 0) continue;
    preferred.push_back({term.weight, NodeTermMatcher(nodes_, term.preference)});
  }
  return preferred;
}

std::unique_ptr<PluginState> NodeAffinity::Compile(const PodShape& shape) {
  auto state = std::make_unique<State>(NodeMatcher::OfPod(nodes_, shape.spec()));
  state->preferred = Compile(PreferredOf(shape.spec()));
  return state;
}

PreFilterResult NodeAffinity::PreFilter(PodQuery& query) {
  if (added_required_.matches_all() && query.state<State>(slot()).required.matches_all()) {
    return PreFilterResult::Skip();
  }
  const kube::NodeSelector* required = RequiredNodeAffinity(query.shape().spec());
  if (required == nullptr) return PreFilterResult::Success();
  const std::optional<Names> names = NamesOf(*required);
  if (!names) return PreFilterResult::Success();
  if (names->empty()) return {Verdict::Unresolvable("pod affinity terms conflict")};
  return {.verdict = Verdict::Success(), .node_names = {{names->begin(), names->end()}}};
}

void NodeAffinity::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  added_required_.Narrow(rows, keep);
  query.state<State>(slot()).required.Narrow(rows, keep);
}

RowVerdict NodeAffinity::Check(const PodQuery& query, const RowView& row) {
  if (!added_required_.Matches(row.row)) return RowVerdict::Unresolvable(added_mismatch_);
  if (query.state<State>(slot()).required.Matches(row.row)) return {};
  return RowVerdict::Unresolvable(pod_mismatch_);
}

Verdict NodeAffinity::PreScore(PodQuery& query, std::span<const uint8_t>) {
  const bool none = added_.preferred.empty() && PreferredOf(query.shape().spec()).empty();
  return none ? Verdict::Skip() : Verdict::Success();
}

void NodeAffinity::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  std::fill_n(scores, rows.size(), 0);
  std::array<uint8_t, kScoreBlock> matches;
  for (auto* preferred : {&added_preferred_, &query.state<State>(slot()).preferred}) {
    for (Preferred& each : *preferred) {
      ForEachBlock(rows, [&](RowRange block) {
        std::fill_n(matches.begin(), block.size(), 1);
        each.term.Narrow(block, matches.data());
        AddWhere(matches.data(), each.weight, block.size(), scores + (block.begin - rows.begin));
      });
    }
  }
}

void NodeAffinity::Normalize(const PodQuery&, ScoreRange range, std::span<int64_t> scores) {
  NormalizeByMax(range.max, scores);
}

bool NodeAffinity::MatchesNode(const kube::Pod& pod, const kube::Node& node) const {
  const std::string& name = node.metadata.name;
  const kube::Labels& labels = node.metadata.labels;
  return (!added_.required || kube::Matches(*added_.required, name, labels)) &&
         kube::MatchesNode(pod.spec, name, labels);
}

bool NodeAffinity::MightCure(const kube::Pod& rejected, const ClusterEvent& event) {
  switch (event.kind) {
    case EventKind::kForced:
      return true;
    case EventKind::kNodeAdded:
      return event.node_after == nullptr || MatchesNode(rejected, *event.node_after);
    case EventKind::kNodeUpdated:
      return event.node_changes.labels &&
             (event.node_after == nullptr || MatchesNode(rejected, *event.node_after)) &&
             (event.node_before == nullptr || !MatchesNode(rejected, *event.node_before));
    case EventKind::kPodUpdated:
      return event.pod_before == nullptr || event.pod_after == nullptr ||
             event.pod_before->spec.node_selector != event.pod_after->spec.node_selector ||
             event.pod_before->spec.affinity != event.pod_after->spec.affinity;
    default:
      return false;
  }
}

}  // namespace koord::scheduler
