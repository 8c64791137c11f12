#include "scheduler/plugins/node_resources_fit/node_resources_fit.h"

#include <absl/container/inlined_vector.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hot.h"
#include "kube/objects/pod_resources.h"

namespace koord::scheduler {
namespace {

struct Need {
  ResourceId id;
  int64_t amount;
  ReasonId reason;
};

struct Scored {
  ResourceId id;
  int64_t amount;
  int32_t weight;
};

struct FitState final : PluginState {
  absl::InlinedVector<Need, 4> needs;
  absl::InlinedVector<Scored, 4> scored;
};

KOORD_HOT void KeepWhereLeft(const int64_t* have, const int64_t* taken, int64_t need, size_t n,
                             uint8_t* keep) {
  for (size_t i = 0; i < n; ++i) keep[i] &= have[i] - taken[i] >= need ? 1 : 0;
}

// The score at each whole percent, along the line through the points and level outside of them.
std::vector<int32_t> ScoresAlong(const std::vector<UtilizationShapePoint>& shape) {
  constexpr int32_t kScale = 10;  // shapes score 0..10
  std::vector<int32_t> scores(101, 0);
  if (shape.empty()) return scores;
  for (int32_t percent = 0; percent <= 100; ++percent) {
    const auto right = std::ranges::find_if(
        shape, [&](const UtilizationShapePoint& point) { return percent <= point.utilization; });
    if (right == shape.end()) {
      scores[percent] = shape.back().score * kScale;
    } else if (right == shape.begin()) {
      scores[percent] = right->score * kScale;
    } else {
      const UtilizationShapePoint& left = *(right - 1);
      scores[percent] = left.score * kScale + (right->score - left.score) * kScale *
                                                  (percent - left.utilization) /
                                                  (right->utilization - left.utilization);
    }
  }
  return scores;
}

bool IsScalar(ResourceId id) { return id >= kFirstScalarId; }

// Names with a domain of their own.
bool IsExtended(std::string_view resource) {
  return resource.find('/') != std::string_view::npos &&
         resource.find("kubernetes.io/") == std::string_view::npos;
}

ShareTerm TermOf(const NodeTable& nodes, const Scored& scored, Share share) {
  return {.allocatable = nodes.allocatable(scored.id),
          .used = UsedForScoring(nodes, scored.id),
          .more = scored.amount,
          .share = share,
          .weight = scored.weight};
}

using Block = std::array<int32_t, kScoreBlock>;

void AccumulateAlong(const int32_t* score_of_percent, const Block& percents, int32_t weight,
                     size_t n, Block& sums, Block& weights) {
  for (size_t i = 0; i < n; ++i) {
    const int32_t score = percents[i] == kNoPercent ? 0 : score_of_percent[percents[i]];
    sums[i] += score * weight;
    weights[i] += score == 0 ? 0 : weight;
  }
}

// What the shape makes of each resource's use; what it scores with 0 takes no part.
void ScoreAlong(const std::vector<int32_t>& score_of_percent, std::span<const ShareTerm> terms,
                RowRange rows, int64_t* scores) {
  Block percents, sums, weights;
  ForEachBlock(rows, [&](RowRange block) {
    const size_t n = block.size();
    std::fill_n(sums.begin(), n, 0);
    std::fill_n(weights.begin(), n, 0);
    for (const ShareTerm& term : terms) {
      Percents(term, block, percents.data());
      AccumulateAlong(score_of_percent.data(), percents, static_cast<int32_t>(term.weight), n, sums,
                      weights);
    }
    for (size_t i = 0; i < n; ++i) {  // the mean is rounded: trunc((2s + w) / 2w)
      sums[i] = 2 * sums[i] + weights[i];
      weights[i] *= 2;
    }
    Means(sums.data(), weights.data(), 0, n, scores + (block.begin - rows.begin));
  });
}

int64_t AmountIn(const kube::ResourceList& list, std::string_view name) {
  const kube::Quantity amount = kube::AmountOf(list, name);
  return name == kube::kCpu ? amount.MilliValue() : amount.Value();
}

}  // namespace

NodeResourcesFit::NodeResourcesFit(const PluginContext& context, NodeResourcesFitArgs args)
    : resources_(context.ledger.resources()),
      reasons_(context.reasons),
      too_many_pods_(context.reasons.Intern("Too many pods")),
      ignored_(std::move(args.ignored_resources)),
      ignored_groups_(std::move(args.ignored_resource_groups)) {
  args.SetDefaults();
  const ScoringStrategy& strategy = *args.scoring_strategy;
  if (strategy.type != kLeastAllocated) share_ = Share::kUsed;
  if (strategy.type == kRequestedToCapacityRatio) {
    score_of_percent_ = ScoresAlong(
        strategy.requested_to_capacity_ratio.value_or(RequestedToCapacityRatio()).shape);
  }
  for (const ResourceWeight& each : strategy.resources) {
    scored_.push_back({resources_.Intern(each.name),
                       static_cast<int32_t>(std::clamp<int64_t>(each.weight, 1, 100))});
  }
}

bool NodeResourcesFit::IsIgnored(std::string_view resource) const {
  if (!IsExtended(resource)) return false;
  const std::string_view group = resource.substr(0, resource.find('/'));
  return std::ranges::find(ignored_, resource) != ignored_.end() ||
         std::ranges::find(ignored_groups_, group) != ignored_groups_.end();
}

std::unique_ptr<PluginState> NodeResourcesFit::Compile(const PodShape& shape) {
  auto state = std::make_unique<FitState>();
  for (const ResourceAmount& each : shape.requests) {
    const std::string& name = resources_.NameOf(each.id);
    if (each.amount <= 0 || IsIgnored(name)) continue;
    state->needs.push_back(
        {each.id, each.amount, reasons_.Intern(fmt::format("Insufficient {}", name))});
  }
  for (const Configured& each : scored_) {
    const int64_t amount = each.id == kCpuId      ? shape.non_zero_cpu
                           : each.id == kMemoryId ? shape.non_zero_memory
                                                  : AmountOf(shape.requests, each.id);
    if (amount == 0 && IsScalar(each.id)) continue;
    state->scored.push_back({each.id, amount, each.weight});
  }
  return state;
}

void NodeResourcesFit::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  const NodeTable& nodes = query.nodes();
  KeepWhereLeft(nodes.allocatable_pods() + rows.begin, nodes.pod_counts() + rows.begin, 1,
                rows.size(), keep);
  for (const Need& need : query.state<FitState>(slot()).needs) {
    KeepWhereLeft(nodes.allocatable(need.id) + rows.begin, nodes.requested(need.id) + rows.begin,
                  need.amount, rows.size(), keep);
  }
}

RowVerdict NodeResourcesFit::Check(const PodQuery& query, const RowView& row) {
  const NodeTable& nodes = query.nodes();
  RowVerdict verdict;
  const auto add = [&](ReasonId reason, bool resolvable) {
    verdict.reasons.push_back(reason);
    if (!resolvable) verdict.code = Code::kUnschedulableAndUnresolvable;
    if (verdict.ok()) verdict.code = Code::kUnschedulable;
  };
  if (row.PodCount(nodes) + 1 > nodes.allocatable_pods()[row.row]) add(too_many_pods_, true);
  for (const Need& need : query.state<FitState>(slot()).needs) {
    const int64_t have = nodes.allocatable(need.id)[row.row];
    if (need.amount <= have - row.Requested(nodes, need.id)) continue;
    add(need.reason, need.amount <= have);
  }
  return verdict;
}

void NodeResourcesFit::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  absl::InlinedVector<ShareTerm, 8> terms;
  for (const Scored& scored : query.state<FitState>(slot()).scored) {
    terms.push_back(TermOf(query.nodes(), scored, share_));
  }
  const std::span<const ShareTerm> span(terms.data(), terms.size());
  if (!score_of_percent_.empty()) {
    ScoreAlong(score_of_percent_, span, rows, scores);
  } else {
    WeightedPercents(span, Absent::kLeftOut, 0, rows, scores);
  }
}

// Whether the pod would fit the node if it were empty, and the node now has more of something that
// the pod asks for.
bool NodeResourcesFit::MightFitAfter(const kube::Pod& rejected, const ClusterEvent& event) const {
  if (event.node_after == nullptr) return true;
  const kube::ResourceList& after = event.node_after->status.allocatable;
  const kube::Shared<kube::ResourceList> none;
  const kube::ResourceList& before =
      event.node_before == nullptr ? none : event.node_before->status.allocatable;
  bool more = AmountIn(after, kube::kPodCount) > AmountIn(before, kube::kPodCount);
  for (const auto& [name, request] : kube::PodRequests(rejected)) {
    if (request.Sign() <= 0 || IsIgnored(name)) continue;
    const int64_t have = AmountIn(after, name);
    if (AmountIn({{name, request}}, name) > have) return false;
    more |= have > AmountIn(before, name);
  }
  return more;
}

bool NodeResourcesFit::IsScaledDown(const kube::Pod& rejected, const ClusterEvent& event) const {
  if (event.pod_before == nullptr || event.pod_after == nullptr) return true;
  constexpr auto kFrom = kube::RequestsFrom::kSpecAndStatus;
  const kube::ResourceList before = kube::PodRequests(*event.pod_before, kFrom);
  const kube::ResourceList after = kube::PodRequests(*event.pod_after, kFrom);
  const kube::ResourceList wanted = kube::PodRequests(rejected);
  return std::ranges::any_of(before, [&](const auto& entry) {
    const std::string& name = entry.first;
    return wanted.contains(name) && AmountIn(after, name) < AmountIn(before, name);
  });
}

bool NodeResourcesFit::MightCure(const kube::Pod& rejected, const ClusterEvent& event) {
  switch (event.kind) {
    case EventKind::kForced:
    case EventKind::kAssignedPodRemoved:
      return true;
    case EventKind::kNodeAdded:
      return MightFitAfter(rejected, event);
    case EventKind::kNodeUpdated:
      return event.node_changes.allocatable && MightFitAfter(rejected, event);
    case EventKind::kAssignedPodUpdated:
      return IsScaledDown(rejected, event);
    case EventKind::kPodUpdated:
      // A pod that is scaled down asks for less than it did when it was rejected.
      return event.pod_before == nullptr || event.pod_after == nullptr ||
             IsScaledDown(*event.pod_before, event);
    default:
      return false;
  }
}

}  // namespace koord::scheduler
