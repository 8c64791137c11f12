#include "scheduler/plugins/node_numa_resource/node_numa_resource.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "api/cpu_annotations.h"
#include "api/keys.h"
#include "kube/json.h"
#include "scheduler/plugins/node_numa_resource/node_description.h"

namespace koord::scheduler {
namespace {

// What is said of rows without a trial.
enum class Refusal : uint8_t {
  kNone,
  kPolicyMismatch,
  kNotInteger,
  kBadRatio,
  kBadTopology,
  kAmplifiedCpu,
  kBindConflict,
  kNotMultiple,
  kNotEnoughCpus,
  kNoZones,
};
struct RefusalText {
  Code code;
  std::string_view text;
};
constexpr std::array<RefusalText, 10> kRefusals{{
    {Code::kSuccess, ""},
    {Code::kUnschedulableAndUnresolvable, "node(s) NUMA Topology policy not match"},
    {Code::kUnschedulableAndUnresolvable, kMustBeInteger},
    {Code::kUnschedulableAndUnresolvable, "node(s) invalid CPU amplification ratio"},
    {Code::kUnschedulableAndUnresolvable, "node(s) invalid CPU Topology"},
    {Code::kUnschedulable, "Insufficient amplified cpu"},
    {Code::kUnschedulableAndUnresolvable,
     "node(s) cpu bind policy conflicts with pod's required cpu bind policy"},
    {Code::kUnschedulableAndUnresolvable, "node(s) requested cpus not multiple cpus per core"},
    {Code::kUnschedulable, "not enough cpus available to satisfy request"},
    {Code::kUnschedulableAndUnresolvable, "node(s) missing NUMA resources"},
}};

Verdict VerdictOf(Refusal refusal) {
  const RefusalText& text = kRefusals[static_cast<size_t>(refusal)];
  return {text.code, {std::string(text.text)}};
}

NumaScoring ScoringOf(const ScoringStrategy& strategy, const ScoringStrategy& weights,
                      ResourceNames& names) {
  NumaScoring scoring{.share = strategy.type == kMostAllocated ? Share::kUsed : Share::kFree};
  for (const ResourceWeight& each : weights.resources) {
    scoring.weights.push_back({names.Intern(each.name), each.weight});
  }
  return scoring;
}

int64_t PinnedMilli(const CpuBook::Row& facts) {
  return 1000 * static_cast<int64_t>(facts.occupancy.holders.held().size());
}

// What pods have requested, with CPUs of their own counted as what they were amplified to.
int64_t WithAmplifiedCpus(int64_t requested, int64_t pinned, double ratio) {
  if (pinned == 0 || requested < pinned) return requested;
  return requested - pinned + Amplified(pinned, ratio);
}

// What WeightedPercents says of one row, if that can be said in simple numbers: most pods change
// one row, and nothing else is asked of them.
std::optional<int64_t> ScorePlain(const NumaScoring& scoring, const NodeTable& nodes, NodeRow row,
                                  const ResourceAmounts& requests) {
  constexpr int64_t kSimple = std::numeric_limits<int64_t>::max() / kMaxScore;
  int64_t sum = 0, weights = 0;
  for (const NumaScoring::Weight& each : scoring.weights) {
    const int64_t request = AmountOf(requests, each.id);
    const int64_t capacity = nodes.allocatable(each.id)[row];
    if (capacity == 0 || (request == 0 && each.id >= kFirstScalarId)) continue;
    if (capacity > kSimple) return {};
    const int64_t used = nodes.requested(each.id)[row] + request;
    const int64_t counted = scoring.share == Share::kUsed ? std::min(used, capacity)
                                                          : std::max<int64_t>(0, capacity - used);
    sum += each.weight * (counted * kMaxScore / capacity);
    weights += each.weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

// How many CPUs could be given to pods under a plan without NUMA policy: the accumulator refuses
// nothing that is counted here.
int64_t FreeFor(const CpuPlan& plan, const CpuBook::Row& row, const ReservedPart* reserved) {
  if (reserved != nullptr && reserved->is_restricted) {
    const CpuSet left = row.FreeCpus() & reserved->left.cpus;
    return static_cast<int64_t>(
        (plan.required ? model::UsableFor(plan.bind, *row.topology->cpus, left) : left).size());
  }
  if (!plan.required) return row.free.any;
  return plan.bind == model::CpuBindPolicy::kFullPcpus ? row.free.whole_cores : row.free.cores;
}

bool Holds(const PodInfo* pod) { return CpuBook::Holds(*pod); }

// Whether a view is that of a pod for which something is reserved there.
bool IsReservedFor(const RowView& view) {
  return view.delta != nullptr && std::ranges::any_of(view.delta->removed, [](const PodInfo* pod) {
           return pod->held != nullptr && pod->held->reserves;
         });
}

std::string_view NameOf(model::CpuBindPolicy policy) {
  return policy == model::CpuBindPolicy::kFullPcpus ? api::kCpuBindFullPcpus
                                                    : api::kCpuBindSpreadByPcpus;
}

// What the pod asked for, with the policy that was followed where it left that open; nothing if it
// did not.
std::optional<api::ResourceSpec> CompletedSpec(const kube::Pod& pod, const CpuPlan& plan) {
  const auto read = api::ResourceSpecOf(pod.metadata.annotations);
  api::ResourceSpec spec = read.ok() ? read->value_or(api::ResourceSpec()) : api::ResourceSpec();
  const api::ResourceSpec before = spec;
  const auto is_open = [](const std::string& policy) {
    return policy.empty() || policy == api::kCpuBindDefault;
  };
  const std::string policy(NameOf(plan.bind));
  if (plan.required && is_open(spec.required_cpu_bind_policy)) {
    spec.required_cpu_bind_policy = policy;
  }
  if (spec.preferred_cpu_bind_policy == api::kCpuBindDefault) {
    spec.preferred_cpu_bind_policy = policy;
  }
  if (spec.preferred_cpu_bind_policy.empty() && spec.required_cpu_bind_policy.empty()) {
    spec.preferred_cpu_bind_policy = policy;
  }
  if (spec == before) return {};
  return spec;
}

api::ResourceStatus StatusOf(const NumaTrial::Result& result, const ResourceNames& names) {
  api::ResourceStatus status{.cpuset = result.cpus.ToString(), .numa_node_resources = {}};
  for (const Holdings::Zone& zone : result.zones) {
    api::NumaNodeResource& into = status.numa_node_resources.emplace_back();
    into.node = zone.numa_node;
    for (const ResourceAmount& each : zone.amounts) {
      const std::string& name = names.NameOf(each.id);
      into.resources[name] = QuantityOf(each.id, name, each.amount);
    }
  }
  return status;
}

// "gets CPUs 0-3, NUMA node 0: cpu 4, memory 8Gi"
std::string DescribeResult(const NumaTrial::Result& result, const ResourceNames& names) {
  std::vector<std::string> parts;
  if (!result.cpus.empty()) parts.push_back("CPUs " + result.cpus.ToString());
  for (const Holdings::Zone& zone : result.zones) {
    std::vector<std::string> amounts;
    for (const ResourceAmount& each : zone.amounts) {
      const std::string& name = names.NameOf(each.id);
      amounts.push_back(
          fmt::format("{} {}", name, QuantityOf(each.id, name, each.amount).ToString()));
    }
    parts.push_back(fmt::format("of NUMA node {} {}", zone.numa_node, fmt::join(amounts, " and ")));
  }
  return fmt::format("gets {}", parts.empty() ? "what it asks for, from anywhere"
                                              : fmt::format("{}", fmt::join(parts, ", ")));
}

}  // namespace

struct NodeNumaResource::Pod final : PluginState {
  PodCpus cpus;
  const ResourceAmounts* requests = nullptr;
  ReasonHold texts;
};

struct NodeNumaResource::Given final : AttemptState {
  api::ResourceStatus status;
  std::optional<api::ResourceSpec> spec;
};

struct NodeNumaResource::Seen {
  RowView view;
  const CpuBook::Row* row = nullptr;
  std::optional<ReservedPart> reserved = {};

  RowDelta delta = {};  // room for what they point to
  CpuBook::Row changed = {};

  const CpuBook::Row& facts() const { return *row; }
  const ReservedPart* part() const { return reserved ? &*reserved : nullptr; }
};

struct NodeNumaResource::Decided {
  Refusal refusal = Refusal::kNone;
  CpuPlan plan = {};
  bool needs_trial = false;
};

NodeNumaResource::NodeNumaResource(const PluginContext& context, NodeNumaResourceArgs args)
    : context_(context), book_(context.books.cpus), args_(std::move(args)) {
  args_.SetDefaults();
  ResourceNames& names = context_.ledger.resources();
  // Both are weighed alike, as users of the second one know it.
  scoring_ = ScoringOf(*args_.scoring_strategy, *args_.scoring_strategy, names);
  numa_scoring_ = ScoringOf(*args_.numa_scoring_strategy, *args_.scoring_strategy, names);
  strategy_ = numa_scoring_.share == Share::kUsed ? model::NumaAllocateStrategy::kMostAllocated
                                                  : model::NumaAllocateStrategy::kLeastAllocated;
  for (const RefusalText& each : kRefusals) reasons_.push_back(context_.reasons.Intern(each.text));
  const NodeTable& nodes = context_.nodes();
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    if (nodes.IsLive(row)) OnNodeAdded(row);
  }
  context_.trials->SetAligner(*this, *this);
  context_.ledger.AddListener(*this);
  context_.objects.node_topologies.Need();
  context_.objects.node_topologies.AddWatcher([this](const auto& before, const auto& after) {
    const auto row = context_.nodes().Find((after ? after : before)->metadata.name);
    if (row && context_.nodes().IsLive(*row)) SetRules(*row);
  });
}

NodeNumaResource::~NodeNumaResource() = default;

// ---- What nodes demand

void NodeNumaResource::SetSpecial(NodeRow row, bool special) {
  special_rows_ += special ? 1 : 0;
  special_rows_ -= special_[row] != 0 ? 1 : 0;
  special_[row] = special ? 1 : 0;
}

void NodeNumaResource::SetRules(NodeRow row) {
  rules_[row] = NodeRulesOf(context_.nodes().node(row), book_.row(row).topology.get());
  SetSpecial(row, !rules_[row].plain());
}

void NodeNumaResource::OnNodeAdded(NodeRow row) {
  rules_.resize(std::max(rules_.size(), context_.nodes().rows()));
  special_.resize(rules_.size());
  SetRules(row);
}

void NodeNumaResource::OnNodeChanged(NodeRow row, const NodeChanges& changes) {
  if (changes.labels || changes.annotations) SetRules(row);
}

void NodeNumaResource::OnNodeRemoved(NodeRow row) {
  rules_[row] = {};
  SetSpecial(row, false);
}

// ---- Filters

std::unique_ptr<PluginState> NodeNumaResource::Compile(const PodShape& shape) {
  auto pod = std::make_unique<Pod>();
  pod->cpus = PodCpusOf(shape, *args_.default_cpu_bind_policy);
  pod->requests = &shape.requests;
  return pod;
}

PreFilterResult NodeNumaResource::PreFilter(PodQuery& query) {
  const PodCpus& pod = query.state<Pod>(slot()).cpus;
  if (!pod.verdict.ok()) return {pod.verdict};
  const bool plain = !pod.binds && pod.policy == model::NumaPolicy::kNone;
  if (plain && special_rows_ == 0) return PreFilterResult::Skip();
  return PreFilterResult::Success();
}

void NodeNumaResource::SeeWithReservation(const TrialQuestion& question, Seen& seen) const {
  const RoomSource& source = question.source;
  std::vector<const PodInfo*> reserving;
  RowDelta others = seen.delta;
  std::erase_if(others.removed, [&](const PodInfo* pod) {
    const bool reserves = pod->held != nullptr && pod->held->reserves.has_value();
    if (reserves && CpuBook::Holds(*pod)) reserving.push_back(pod);
    return reserves;
  });
  if (reserving.empty()) return;
  seen.changed = book_.With(question.view.row, others.removed, others.added);
  seen.reserved.emplace();
  for (const PodInfo* pod : reserving) {
    CpuBook::Row::Left left = seen.changed.LeftOf(*pod);
    seen.reserved->left.cpus |= left.cpus;
    if (!source.is_everything) seen.reserved->left.zones = std::move(left.zones);
  }
  if (!source.is_everything) seen.reserved->all = source.reserve_pod->held.get();
  seen.reserved->is_restricted = source.is_restricted;
  for (const PodInfo* pod : reserving) seen.changed.Remove(*pod);
  seen.changed.Count();
  seen.row = &seen.changed;
}

void NodeNumaResource::See(const TrialQuestion& question, Seen& seen) const {
  seen.view = {question.view.row, nullptr};
  seen.row = &book_.row(question.view.row);
  const RoomSource& source = question.source;
  const bool plain = source.reserve_pod == nullptr && !source.is_everything;
  if (question.view.delta == nullptr && plain) return;
  seen.delta = DeltaFor(question);
  if (source.is_everything) {
    RowDelta reserving;
    std::ranges::copy_if(seen.row->sharing, std::back_inserter(reserving.removed),
                         [](const PodInfo* pod) { return pod->held->reserves.has_value(); });
    seen.delta.Add(reserving);
  }
  if (seen.delta.empty()) return;
  seen.view.delta = &seen.delta;
  SeeWithReservation(question, seen);
  if (seen.reserved || (std::ranges::none_of(seen.delta.removed, Holds) &&
                        std::ranges::none_of(seen.delta.added, Holds))) {
    return;
  }
  seen.changed = book_.With(question.view.row, seen.delta.removed, seen.delta.added);
  seen.row = &seen.changed;
}

NodeNumaResource::Decided NodeNumaResource::Decide(const Pod& state, const Seen& seen) const {
  using enum model::NumaPolicy;
  const RowView& view = seen.view;
  const CpuBook::Row& facts = seen.facts();
  const PodCpus& pod = state.cpus;
  const NodeRules& rules = rules_[view.row];
  const NodeTable& nodes = context_.nodes();
  Decided decided;
  CpuPlan& plan = decided.plan;
  const auto refuse = [&](Refusal refusal) {
    decided.refusal = refusal;
    return decided;
  };
  if (pod.policy != kNone && rules.policy != kNone && pod.policy != rules.policy) {
    return refuse(Refusal::kPolicyMismatch);
  }
  plan.policy = pod.policy != kNone ? pod.policy : rules.policy;
  plan.binds = pod.binds || (rules.bind && pod.milli_cpu > 0);
  if (plan.binds && !pod.is_integer()) return refuse(Refusal::kNotInteger);
  if (pod.milli_cpu > 0 && rules.ratios_are_bad) return refuse(Refusal::kBadRatio);
  if (pod.milli_cpu > 0 && rules.node_cpu_ratio > 1) {
    if (facts.topology != nullptr && !facts.valid()) return refuse(Refusal::kBadTopology);
    const double ratio = rules.node_cpu_ratio;
    const int64_t need = plan.binds ? Amplified(pod.milli_cpu, ratio) : pod.milli_cpu;
    const int64_t requested =
        WithAmplifiedCpus(view.Requested(nodes, kCpuId), PinnedMilli(facts), ratio);
    if (need > nodes.allocatable(kCpuId)[view.row] - requested) {
      return refuse(Refusal::kAmplifiedCpu);
    }
  }
  if (plan.binds) {
    if (!facts.valid()) return refuse(Refusal::kBadTopology);
    if (pod.required && rules.bind && *pod.required != *rules.bind) {
      return refuse(Refusal::kBindConflict);
    }
    plan.required = pod.required || rules.bind;
    plan.bind = pod.required ? *pod.required : rules.bind.value_or(pod.preferred);
    const bool full = plan.bind == model::CpuBindPolicy::kFullPcpus;
    if (plan.required && full && pod.cpus() % facts.topology->cpus->cpus_per_core() != 0) {
      return refuse(Refusal::kNotMultiple);
    }
  }
  const bool no_zones = facts.topology == nullptr || facts.topology->zones.empty();
  // Where nothing is known that could be aligned, no effort is best.
  if (no_zones && plan.policy == kBestEffort) plan.policy = kNone;
  if (plan.policy == kNone) {
    return refuse(plan.binds && FreeFor(plan, facts, seen.part()) < pod.cpus()
                      ? Refusal::kNotEnoughCpus
                      : Refusal::kNone);
  }
  if (no_zones) return refuse(Refusal::kNoZones);
  decided.needs_trial = true;
  return decided;
}

model::NumaExclusivity NodeNumaResource::ExclusivityFor(const Pod& pod, const Seen& seen) const {
  if (!pod.cpus.exclusive_numa_nodes || seen.facts().topology == nullptr) return {};
  std::vector<const CpuSet*> cpus_of_pods;
  seen.view.ForEachPod(context_.nodes(), [&](const PodInfo& other) {
    if (other.held != nullptr && !other.held->cpus.empty()) {
      cpus_of_pods.push_back(&other.held->cpus);
    }
  });
  return ExclusivityOf(*seen.facts().topology->cpus, cpus_of_pods);
}

template <class F>
auto NodeNumaResource::WithTrial(const Pod& pod, const CpuPlan& plan, const Seen& seen, F f) const {
  const model::NumaExclusivity exclusivity = ExclusivityFor(pod, seen);
  return f(NumaTrial(pod.cpus, *pod.requests, plan, rules_[seen.view.row], seen.facts(),
                     numa_scoring_, strategy_, exclusivity, context_.ledger.resources(),
                     seen.part()));
}

bool NodeNumaResource::Passes(const PodShape& shape, const Pod& pod, NodeRow row) {
  const TrialQuestion question{shape, {row, nullptr}};
  Seen seen;
  See(question, seen);
  const Decided decided = Decide(pod, seen);
  if (decided.refusal != Refusal::kNone) return false;
  if (!decided.needs_trial) return true;
  if (context_.trials->HasOthers(*this, question)) {
    return context_.trials->Run(question).verdict.ok();
  }
  return WithTrial(pod, decided.plan, seen, [](const NumaTrial& trial) { return trial.Fits(); });
}

void NodeNumaResource::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  const Pod& pod = query.state<Pod>(slot());
  const bool plain = !pod.cpus.binds && pod.cpus.policy == model::NumaPolicy::kNone;
  if (plain && special_rows_ == 0) return;
  const uint8_t* live = query.nodes().live();
  for (NodeRow row = rows.begin; row < rows.end; ++row) {
    uint8_t& kept = keep[row - rows.begin];
    if (kept == 0 || live[row] == 0 || (plain && !IsSpecial(row))) continue;
    kept = Passes(query.shape(), pod, row) ? 1 : 0;
  }
}

Verdict NodeNumaResource::CheckSource(const Pod& pod, const TrialQuestion& question,
                                      const Seen& seen, const Decided& decided) {
  if (decided.refusal != Refusal::kNone) return VerdictOf(decided.refusal);
  if (!decided.needs_trial) return Verdict::Success();
  if (context_.trials->HasOthers(*this, question)) return context_.trials->Run(question).verdict;
  NumaTrial::Result result =
      WithTrial(pod, decided.plan, seen, [](const NumaTrial& trial) { return trial.Run(); });
  if (result.ok) return Verdict::Success();
  return {Code::kUnschedulable, std::move(result.reasons)};
}

RowVerdict NodeNumaResource::ToRow(Pod& pod, Verdict verdict) {
  if (verdict.ok()) return {};
  return {verdict.code, {context_.reasons.InternAll(verdict.reasons, pod.texts)}};
}

// By any of its reservations, or else with what is free to all.
RowVerdict NodeNumaResource::CheckReserved(Pod& pod, const PodShape& shape, const RowView& view) {
  const ProfileTrials::Sources ways = context_.trials->SourcesFor(shape, view.row);
  std::vector<std::string> reasons;
  Verdict verdict;
  for (size_t i = 0; i < ways.sources.size(); ++i) {
    const TrialQuestion question{shape, view, ways.sources[i]};
    Seen seen;
    See(question, seen);
    verdict = CheckSource(pod, question, seen, Decide(pod, seen));
    if (verdict.ok()) return {};
    const bool is_tried_again = i + 1 < ways.sources.size() &&
                                question.source.reserve_pod != nullptr &&
                                ways.sources[i + 1].reserve_pod == question.source.reserve_pod;
    if (!ways.must_use_one || is_tried_again) continue;
    for (const std::string& reason : verdict.reasons) reasons.push_back("Reservation(s) " + reason);
  }
  if (ways.must_use_one) verdict = {Code::kUnschedulable, std::move(reasons)};
  return ToRow(pod, std::move(verdict));
}

RowVerdict NodeNumaResource::Check(const PodQuery& query, const RowView& view) {
  Pod& pod = query.state<Pod>(slot());
  if (!pod.cpus.verdict.ok()) return {};
  const bool plain = !pod.cpus.binds && pod.cpus.policy == model::NumaPolicy::kNone;
  if (plain && !IsSpecial(view.row)) return {};
  if (IsReservedFor(view)) return CheckReserved(pod, query.shape(), view);
  const TrialQuestion question{query.shape(), view};
  Seen seen;
  See(question, seen);
  return ToRow(pod, CheckSource(pod, question, seen, Decide(pod, seen)));
}

// ---- Hints

// What one question comes to, with all that it is made from.
class NodeNumaResource::Trial final : public HintTrial {
 public:
  Trial(const NodeNumaResource& plugin, const Pod& pod, const TrialQuestion& question) {
    plugin.See(question, seen_);
    decided_ = plugin.Decide(pod, seen_);
    exclusivity_ = plugin.ExclusivityFor(pod, seen_);
    trial_.emplace(pod.cpus, *pod.requests, decided_.plan, plugin.rules_[question.view.row],
                   seen_.facts(), plugin.numa_scoring_, plugin.strategy_, exclusivity_,
                   plugin.context_.ledger.resources(), seen_.part());
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  Answer Hints(model::NumaPolicy, model::NumaMask) const override { return {{}, trial_->Hints()}; }
  Verdict Allocate(const std::optional<model::NumaMask>& from, Holdings* into) const override {
    NumaTrial::Result result = trial_->Allocate(from);
    if (!result.ok) return {Code::kUnschedulable, std::move(result.reasons)};
    if (into != nullptr) {
      into->cpus = std::move(result.cpus);
      into->zones = std::move(result.zones);
    }
    return Verdict::Success();
  }

  const Decided& decided() const { return decided_; }
  bool has_part() const { return decided_.plan.binds || decided_.needs_trial; }

 private:
  Seen seen_;
  Decided decided_;
  model::NumaExclusivity exclusivity_;
  std::optional<NumaTrial> trial_;
};

std::unique_ptr<HintTrial> NodeNumaResource::Try(const TrialQuestion& question) {
  const Pod& pod = PodOfShape(question.shape);
  const bool plain = !pod.cpus.binds && pod.cpus.policy == model::NumaPolicy::kNone;
  if (!pod.cpus.verdict.ok() || (plain && !IsSpecial(question.view.row))) return nullptr;
  auto trial = std::make_unique<Trial>(*this, pod, question);
  if (trial->decided().refusal == Refusal::kNone && !trial->has_part()) return nullptr;
  return trial;
}

NumaAligner::Terms NodeNumaResource::TermsFor(const TrialQuestion& question) {
  const Pod& pod = PodOfShape(question.shape);
  Terms terms;
  if (!pod.cpus.verdict.ok()) return terms;
  Seen seen;
  See(question, seen);
  const Decided decided = Decide(pod, seen);
  if (decided.refusal != Refusal::kNone) terms.verdict = VerdictOf(decided.refusal);
  if (!decided.needs_trial) return terms;
  terms.policy = decided.plan.policy;
  for (const Holdings::Zone& zone : seen.facts().topology->zones) terms.all.Add(zone.numa_node);
  terms.exclusivity = ExclusivityFor(pod, seen);
  return terms;
}

std::vector<std::string> NodeNumaResource::Explain(const TrialQuestion& question) {
  const Pod& pod = PodOfShape(question.shape);
  const bool plain = !pod.cpus.binds && pod.cpus.policy == model::NumaPolicy::kNone;
  if (!pod.cpus.verdict.ok() || (plain && !IsSpecial(question.view.row))) return {};
  Seen seen;
  See(question, seen);
  const Decided decided = Decide(pod, seen);
  const CpuPlan& plan = decided.plan;
  if (decided.refusal == Refusal::kNone && !plan.binds && !decided.needs_trial) return {};
  std::vector<std::string> lines;
  if (decided.refusal != Refusal::kNone) lines.push_back(VerdictOf(decided.refusal).Message());
  if (plan.binds && seen.facts().valid()) {
    const CpuBook::FreeCounts& free = seen.facts().free;
    lines.push_back(fmt::format(
        "{} CPUs by {}{}: {} are free ({}), {} of them on whole cores, {} cores have one free",
        pod.cpus.cpus(), NameOf(plan.bind), plan.required ? ", required" : "", free.any,
        seen.facts().FreeCpus().ToString(), free.whole_cores, free.cores));
  }
  if (decided.refusal != Refusal::kNone) return lines;
  WithTrial(pod, plan, seen, [&](const NumaTrial& trial) {
    std::ranges::move(trial.DescribeZones(), std::back_inserter(lines));
    const NumaTrial::Result result = trial.Run();
    lines.insert(lines.begin(),
                 result.ok ? DescribeResult(result, context_.ledger.resources())
                           : fmt::format("gets nothing: {}", fmt::join(result.reasons, ", ")));
  });
  return lines;
}

// ---- Scores

Verdict NodeNumaResource::PreScore(PodQuery& query, std::span<const uint8_t>) {
  const Pod& pod = query.state<Pod>(slot());
  return pod.cpus.verdict.ok() ? Verdict::Success() : Verdict::Skip();
}

void NodeNumaResource::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  const Pod& pod = query.state<Pod>(slot());
  const NodeTable& nodes = query.nodes();
  if (pod.cpus.policy == model::NumaPolicy::kNone && rows.size() == 1 && !IsSpecial(rows.begin)) {
    const auto score = ScorePlain(scoring_, nodes, rows.begin, *pod.requests);
    if (score) {
      *scores = *score;
      return;
    }
  }
  if (pod.cpus.policy == model::NumaPolicy::kNone) {
    absl::InlinedVector<ShareTerm, 4> terms;
    for (const NumaScoring::Weight& each : scoring_.weights) {
      const int64_t request = AmountOf(*pod.requests, each.id);
      if (request == 0 && each.id >= kFirstScalarId) continue;
      terms.push_back({.allocatable = nodes.allocatable(each.id),
                       .used = nodes.requested(each.id),
                       .more = request,
                       .share = scoring_.share,
                       .weight = each.weight});
    }
    WeightedPercents({terms.data(), terms.size()}, Absent::kLeftOut, 0, rows, scores);
    if (special_rows_ == 0) return;
  }
  for (NodeRow row = rows.begin; row < rows.end; ++row) {
    if (pod.cpus.policy == model::NumaPolicy::kNone && !IsSpecial(row)) continue;
    if (nodes.IsLive(row)) scores[row - rows.begin] = ScoreRow(query, {row, nullptr});
  }
}

int64_t NodeNumaResource::ScoreNode(const Pod& pod, const CpuPlan& plan, const Seen& seen) const {
  const NodeTable& nodes = context_.nodes();
  const NodeRow row = seen.view.row;
  const double ratio = rules_[row].cpu_ratio;
  ResourceAmounts total, used, more = *pod.requests;
  for (const NumaScoring::Weight& each : scoring_.weights) {
    AddTo(total, {{each.id, nodes.allocatable(each.id)[row]}});
    int64_t requested = seen.view.Requested(nodes, each.id);
    if (each.id == kCpuId && pod.cpus.milli_cpu > 0 && ratio > 1) {
      requested = WithAmplifiedCpus(requested, PinnedMilli(seen.facts()), ratio);
    }
    AddTo(used, {{each.id, requested}});
  }
  for (ResourceAmount& each : more) {
    if (each.id == kCpuId && plan.binds) each.amount = Amplified(each.amount, ratio);
  }
  return ShareScore(scoring_, total, used, more);
}

int64_t NodeNumaResource::ScoreSource(const Pod& pod, const TrialQuestion& question) {
  Seen seen;
  See(question, seen);
  const Decided decided = Decide(pod, seen);
  if (decided.plan.binds && !seen.facts().valid()) return 0;
  if (!decided.needs_trial) return ScoreNode(pod, decided.plan, seen);
  std::optional<ProfileTrials::Agreement> agreed;
  if (context_.trials->HasOthers(*this, question)) agreed = context_.trials->Agree(question);
  return WithTrial(pod, decided.plan, seen, [&](const NumaTrial& trial) -> int64_t {
    if (agreed && !agreed->verdict.ok()) return 0;
    const NumaTrial::Result result = agreed ? trial.Allocate(agreed->from) : trial.Run();
    if (!result.ok) return 0;
    if (result.zones.empty()) return ScoreNode(pod, decided.plan, seen);
    NumaTrial::Use use = trial.UseOf(result.zones);
    ResourceAmounts more = *pod.requests;
    if (!result.cpus.empty()) {
      const double ratio = rules_[seen.view.row].cpu_ratio;
      const int64_t used = AmountOf(use.used, kCpuId);
      AddTo(use.used, {{kCpuId, Amplified(PinnedMilli(seen.facts()), ratio) - used}});
      for (ResourceAmount& each : more) {
        if (each.id == kCpuId) each.amount = Amplified(each.amount, ratio);
      }
    }
    return ShareScore(scoring_, use.total, use.used, more);
  });
}

int64_t NodeNumaResource::ScoreRow(const PodQuery& query, const RowView& view) {
  const Pod& pod = query.state<Pod>(slot());
  const PodShape& shape = query.shape();
  if (!IsReservedFor(view)) return ScoreSource(pod, {shape, view});
  const auto settled =
      context_.trials->Settle(shape, view, context_.trials->SourcesFor(shape, view.row));
  return ScoreSource(pod, {shape, view, settled.source});
}

// ---- One pod

NodeNumaResource::Pod& NodeNumaResource::PodOfShape(const PodShape& shape) {
  Known& known = known_[shape.id % known_.size()];
  if (known.shape == shape.id) return *known.pod;
  known.pod.reset(static_cast<Pod*>(Compile(shape).release()));
  known.shape = shape.id;
  return *known.pod;
}

Verdict NodeNumaResource::Reserve(Attempt& attempt) {
  const Pod& pod = PodOfShape(*attempt.shape);
  const bool plain = !pod.cpus.binds && pod.cpus.policy == model::NumaPolicy::kNone;
  if (!pod.cpus.verdict.ok() || (plain && !IsSpecial(attempt.row))) return Verdict::Success();
  Verdict verdict;
  for (const RoomSource& source : context_.trials->SourcesFor(attempt).sources) {
    verdict = ReserveFrom(pod, source, attempt);
    if (verdict.ok()) return verdict;
    if (source.reserve_pod == nullptr || !CpuBook::Holds(*source.reserve_pod)) continue;
    verdict = Verdict::Unschedulable(
        "pod has a nominated reservation but cannot be allocated within its NUMA scope");
  }
  return verdict;
}

Verdict NodeNumaResource::ReserveFrom(const Pod& pod, const RoomSource& source, Attempt& attempt) {
  const TrialQuestion question{*attempt.shape, {attempt.row, nullptr}, source};
  Seen seen;
  See(question, seen);
  const Decided decided = Decide(pod, seen);
  if (decided.refusal != Refusal::kNone) return VerdictOf(decided.refusal);
  if (!decided.plan.binds && !decided.needs_trial) return Verdict::Success();
  std::optional<ProfileTrials::Agreement> agreed;
  if (context_.trials->HasOthers(*this, question)) {
    agreed = context_.trials->Run(question);
    if (!agreed->verdict.ok()) return std::move(agreed->verdict);
  }
  return Give(decided.plan,
              WithTrial(pod, decided.plan, seen,
                        [&](const NumaTrial& trial) {
                          return agreed ? trial.Allocate(agreed->from) : trial.Run();
                        }),
              attempt);
}

Verdict NodeNumaResource::Give(const CpuPlan& plan, NumaTrial::Result result, Attempt& attempt) {
  if (!result.ok) return {Code::kUnschedulable, std::move(result.reasons)};
  if (result.cpus.empty() && result.zones.empty()) return Verdict::Success();
  ResourceNames& names = context_.ledger.resources();
  auto given = std::make_unique<Given>();
  given->status = StatusOf(result, names);
  if (plan.binds) given->spec = CompletedSpec(*attempt.pod, plan);
  attempt.SetState(slot(), std::move(given));
  if (attempt.held == nullptr) attempt.held = std::make_unique<Holdings>();
  attempt.held->cpus = std::move(result.cpus);
  attempt.held->zones = std::move(result.zones);
  for (const ResourceAmount& each : attempt.shape->requests) {
    if (each.id >= kFirstScalarId) {
      names.AmountsIn({{names.NameOf(each.id), kube::Quantity(1)}}, attempt.held->names);
    }
  }
  return Verdict::Success();
}

void NodeNumaResource::PreBind(Attempt& attempt, VerdictDone done) {
  if (const Given* given = attempt.state<Given>(slot())) {
    attempt.annotations[std::string(api::kAnnotationResourceStatus)] =
        api::EncodeResourceStatus(given->status);
    if (given->spec) {
      attempt.annotations[std::string(api::kAnnotationResourceSpec)] =
          api::EncodeResourceSpec(*given->spec);
    }
  }
  done(Verdict::Success());
}

// ---- Waking

bool NodeNumaResource::Wants(EventKind kind) const {
  switch (kind) {
    case EventKind::kAssignedPodRemoved:
    case EventKind::kNodeTopologyChanged:
    case EventKind::kNodeAdded:
    case EventKind::kNodeUpdated:
      return true;
    default:
      return false;
  }
}

bool NodeNumaResource::MightCure(const kube::Pod&, const ClusterEvent& event) {
  if (event.kind != EventKind::kNodeUpdated) return Wants(event.kind);
  return event.node_changes.allocatable || event.node_changes.labels ||
         event.node_changes.annotations;
}

// ---- For people

std::vector<ServicePlugin::Endpoint> NodeNumaResource::Endpoints() {
  return {{"nodes/{node}", [this](const Params& params) { return Describe(params.at("node")); }}};
}

StatusOr<kube::Json> NodeNumaResource::Describe(std::string_view node) const {
  const auto row = context_.nodes().Find(node);
  if (!row || !context_.nodes().IsLive(*row)) return absl::NotFoundError("no such node");
  if (!book_.row(*row).valid()) {
    return absl::InternalError("invalid topology, please check the NodeResourceTopology object");
  }
  return DescribeNode(*row, book_.row(*row), rules_[*row], context_.nodes(),
                      context_.ledger.resources());
}

}  // namespace koord::scheduler
