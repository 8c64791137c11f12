#include "scheduler/plugins/node_resources_fit/node_resources_fit.h"

#include <absl/container/inlined_vector.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

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
  std::optional<ReasonId> unoffered;  // the pod needs what no node has
  absl::InlinedVector<Scored, 4> scored;
  ReasonHold texts;
};

KOORD_HOT void KeepWhereLeft(const int64_t* have, const int64_t* taken, int64_t need, size_t n,
                             uint8_t* keep) {
  for (size_t i = 0; i < n; ++i) keep[i] &= have[i] - taken[i] >= need ? 1 : 0;
}

// The same of doubles, which scores read too: a third less to read for both.
KOORD_HOT void KeepWhereLeft(const double* have, const double* taken, double need, size_t n,
                             uint8_t* keep) {
  for (size_t i = 0; i < n; ++i) keep[i] &= have[i] - taken[i] >= need ? 1 : 0;
}

// Sets bits where less is left than needed, and further ones where there never is enough.
KOORD_HOT void MarkWhereShort(const int64_t* have, const int64_t* taken, int64_t need, size_t n,
                              uint8_t now, uint8_t ever, uint8_t* marks) {
  for (size_t i = 0; i < n; ++i) {
    marks[i] |= (have[i] - taken[i] < need ? now : 0) | (have[i] < need ? ever : 0);
  }
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
    : nodes_(context.nodes()),
      resources_(context.ledger.resources()),
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
  std::vector<std::string> unoffered;
  for (const ResourceAmount& each : shape.requests) {
    const std::string& name = resources_.NameOf(each.id);
    if (each.amount <= 0 || IsIgnored(name)) continue;
    std::string reason = fmt::format("Insufficient {}", name);
    if (nodes_.IsOffered(each.id)) {
      state->needs.push_back({each.id, each.amount, reasons_.Intern(reason, state->texts)});
    } else {
      unoffered.push_back(std::move(reason));
    }
  }
  if (!unoffered.empty()) state->unoffered = reasons_.InternAll(unoffered, state->texts);
  for (const Configured& each : scored_) {
    const int64_t amount = each.id == kCpuId      ? shape.non_zero_cpu
                           : each.id == kMemoryId ? shape.non_zero_memory
                                                  : AmountOf(shape.requests, each.id);
    if (amount == 0 && IsScalar(each.id)) continue;
    state->scored.push_back({each.id, amount, each.weight});
  }
  return state;
}

uint64_t NodeResourcesFit::VersionFor(const PodShape& shape) const {
  const bool has_scalars = !shape.requests.empty() && IsScalar(shape.requests.back().id);
  return has_scalars ? nodes_.offered_version() : 0;
}

void NodeResourcesFit::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  const NodeTable& nodes = query.nodes();
  const FitState& state = query.state<FitState>(slot());
  if (state.unoffered) {
    std::fill_n(keep, rows.size(), 0);
    return;
  }
  KeepWhereLeft(nodes.allocatable_pods() + rows.begin, nodes.pod_counts() + rows.begin, 1,
                rows.size(), keep);
  for (const Need& need : state.needs) {
    const AmountColumns* amounts = nodes.amounts(need.id);
    if (amounts != nullptr && !amounts->HasOdd(rows)) {
      KeepWhereLeft(amounts->allocatable() + rows.begin, amounts->requested() + rows.begin,
                    static_cast<double>(need.amount), rows.size(), keep);
    } else {
      KeepWhereLeft(nodes.allocatable(need.id) + rows.begin, nodes.requested(need.id) + rows.begin,
                    need.amount, rows.size(), keep);
    }
  }
}

RowVerdict NodeResourcesFit::Check(const PodQuery& query, const RowView& row) {
  const NodeTable& nodes = query.nodes();
  const FitState& state = query.state<FitState>(slot());
  RowVerdict verdict;
  const auto add = [&](ReasonId reason, bool resolvable) {
    verdict.reasons.push_back(reason);
    if (!resolvable) verdict.code = Code::kUnschedulableAndUnresolvable;
    if (verdict.ok()) verdict.code = Code::kUnschedulable;
  };
  if (row.PodCount(nodes) + 1 > nodes.allocatable_pods()[row.row]) add(too_many_pods_, true);
  for (const Need& need : state.needs) {
    const int64_t have = nodes.allocatable(need.id)[row.row];
    if (need.amount <= have - row.Requested(nodes, need.id)) continue;
    add(need.reason, need.amount <= have);
  }
  if (state.unoffered) add(*state.unoffered, false);
  return verdict;
}

// Rows that lack the same are of one kind: Check says what that is once for each.
void NodeResourcesFit::Diagnose(const PodQuery& query, uint8_t* keep, DiagnosisTable& why) {
  const NodeTable& nodes = query.nodes();
  const FitState& state = query.state<FitState>(slot());
  constexpr size_t kBits = 8;
  if (2 * state.needs.size() + 1 > kBits || state.unoffered) {
    return FilterPlugin::Diagnose(query, keep, why);
  }
  const size_t rows = nodes.rows();
  std::vector<uint8_t> lacks(rows);
  MarkWhereShort(nodes.allocatable_pods(), nodes.pod_counts(), 1, rows, 1, 0, lacks.data());
  uint8_t bit = 1;
  for (const Need& need : state.needs) {
    const auto some = static_cast<uint8_t>(bit << 1);
    bit = static_cast<uint8_t>(bit << 2);
    MarkWhereShort(nodes.allocatable(need.id), nodes.requested(need.id), need.amount, rows, some,
                   bit, lacks.data());
  }
  constexpr DiagnosisTable::KindId kUnknown = ~DiagnosisTable::KindId{0};
  std::array<DiagnosisTable::KindId, 1 << kBits> kinds;
  kinds.fill(kUnknown);
  for (NodeRow row{0}; row < rows; ++row) {
    if (!keep[row] || lacks[row] == 0) continue;
    DiagnosisTable::KindId& kind = kinds[lacks[row]];
    if (kind == kUnknown) {
      kind = why.KindOf({static_cast<uint32_t>(slot()), Check(query, {row, nullptr})});
    }
    why.Set(row, kind);
    keep[row] = 0;
  }
}

FilterPlugin::PodsRead NodeResourcesFit::Reads(const PodQuery& query) {
  // What no node has is not there without pods either.
  return query.state<FitState>(slot()).unoffered ? PodsRead::kNone : PodsRead::kRoom;
}

ResourceAmounts NodeResourcesFit::RoomFor(const PodQuery& query) {
  ResourceAmounts amounts;
  for (const Need& need : query.state<FitState>(slot()).needs) {
    amounts.push_back({need.id, need.amount});
  }
  return amounts;
}

void NodeResourcesFit::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  absl::InlinedVector<ShareTerm, 8> terms;
  for (const Scored& scored : query.state<FitState>(slot()).scored) {
    terms.push_back(TermOf(query.nodes(), scored.id, scored.amount, share_, scored.weight));
  }
  ScoreTerms({terms.data(), terms.size()}, rows, scores);
}

void NodeResourcesFit::ScoreTerms(std::span<const ShareTerm> terms, RowRange rows,
                                  int64_t* scores) const {
  if (!score_of_percent_.empty()) {
    ScoreAlong(score_of_percent_, terms, rows, scores);
  } else {
    WeightedPercents(terms, Absent::kLeftOut, 0, rows, scores);
  }
}

int64_t NodeResourcesFit::ScoreRow(const PodQuery& query, const RowView& row) {
  const NodeTable& nodes = query.nodes();
  const auto& scored = query.state<FitState>(slot()).scored;
  OneRowTerms terms(scored.size());
  for (const Scored& each : scored) {
    terms.Add(nodes.allocatable(each.id)[row.row], row.NonZeroRequested(nodes, each.id),
              each.amount, share_, each.weight);
  }
  int64_t score = 0;
  ScoreTerms(terms.terms(), terms.row(), &score);
  return score;
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
