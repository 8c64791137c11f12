#include "scheduler/plugins/node_numa_resource/node_numa_resource.h"

#include <algorithm>
#include <array>

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

// How many CPUs could be given to pods under a plan without NUMA policy: the accumulator refuses
// nothing that is counted here.
int64_t FreeFor(const CpuPlan& plan, const CpuBook::FreeCounts& free) {
  if (!plan.required) return free.any;
  return plan.bind == model::CpuBindPolicy::kFullPcpus ? free.whole_cores : free.cores;
}

bool HoldsCpusOrZones(const PodInfo* pod) {
  return pod->held != nullptr && !(pod->held->cpus.empty() && pod->held->zones.empty());
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

kube::Quantity QuantityOf(ResourceId id, std::string_view name, int64_t amount) {
  if (id == kCpuId) return kube::Quantity::FromMilli(amount);
  const bool bytes = id == kMemoryId || id == kEphemeralStorageId ||
                     name.starts_with(kube::kHugePagesPrefix) || name.ends_with("memory");
  return kube::Quantity(
      amount, bytes ? kube::Quantity::Format::kBinarySi : kube::Quantity::Format::kDecimalSi);
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

const CpuBook::Row& NodeNumaResource::FactsOf(const RowView& view, CpuBook::Row& changed) const {
  const bool same =
      view.delta == nullptr || (std::ranges::none_of(view.delta->removed, HoldsCpusOrZones) &&
                                std::ranges::none_of(view.delta->added, HoldsCpusOrZones));
  if (same) return book_.row(view.row);
  changed = book_.With(view.row, view.delta->removed, view.delta->added);
  return changed;
}

NodeNumaResource::Decided NodeNumaResource::Decide(const Pod& state, const RowView& view,
                                                   const CpuBook::Row& facts) const {
  using enum model::NumaPolicy;
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
    return refuse(plan.binds && FreeFor(plan, facts.free) < pod.cpus() ? Refusal::kNotEnoughCpus
                                                                       : Refusal::kNone);
  }
  if (no_zones) return refuse(Refusal::kNoZones);
  decided.needs_trial = true;
  return decided;
}

model::NumaExclusivity NodeNumaResource::ExclusivityFor(const Pod& pod, const RowView& view,
                                                        const CpuBook::Row& facts) const {
  if (!pod.cpus.exclusive_numa_nodes || facts.topology == nullptr) return {};
  std::vector<const CpuSet*> cpus_of_pods;
  view.ForEachPod(context_.nodes(), [&](const PodInfo& other) {
    if (other.held != nullptr && !other.held->cpus.empty()) {
      cpus_of_pods.push_back(&other.held->cpus);
    }
  });
  return ExclusivityOf(*facts.topology->cpus, cpus_of_pods);
}

template <class F>
auto NodeNumaResource::WithTrial(const Pod& pod, const CpuPlan& plan, const RowView& view,
                                 const CpuBook::Row& facts, F f) const {
  const model::NumaExclusivity exclusivity = ExclusivityFor(pod, view, facts);
  return f(NumaTrial(pod.cpus, *pod.requests, plan, rules_[view.row], facts, numa_scoring_,
                     strategy_, exclusivity, context_.ledger.resources()));
}

bool NodeNumaResource::Passes(const Pod& pod, const RowView& view) const {
  const CpuBook::Row& facts = book_.row(view.row);
  const Decided decided = Decide(pod, view, facts);
  if (decided.refusal != Refusal::kNone) return false;
  return !decided.needs_trial ||
         WithTrial(pod, decided.plan, view, facts, [](const NumaTrial& t) { return t.Fits(); });
}

void NodeNumaResource::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  const Pod& pod = query.state<Pod>(slot());
  const bool plain = !pod.cpus.binds && pod.cpus.policy == model::NumaPolicy::kNone;
  if (plain && special_rows_ == 0) return;
  const uint8_t* live = query.nodes().live();
  for (NodeRow row = rows.begin; row < rows.end; ++row) {
    uint8_t& kept = keep[row - rows.begin];
    if (kept == 0 || live[row] == 0 || (plain && !IsSpecial(row))) continue;
    kept = Passes(pod, {row, nullptr}) ? 1 : 0;
  }
}

RowVerdict NodeNumaResource::Check(const PodQuery& query, const RowView& view) {
  Pod& pod = query.state<Pod>(slot());
  if (!pod.cpus.verdict.ok()) return {};
  CpuBook::Row changed;
  const CpuBook::Row& facts = FactsOf(view, changed);
  const Decided decided = Decide(pod, view, facts);
  if (decided.refusal != Refusal::kNone) {
    const auto refusal = static_cast<size_t>(decided.refusal);
    return {kRefusals[refusal].code, {reasons_[refusal]}};
  }
  if (!decided.needs_trial) return {};
  const NumaTrial::Result result =
      WithTrial(pod, decided.plan, view, facts, [](const NumaTrial& trial) { return trial.Run(); });
  if (result.ok) return {};
  return RowVerdict::Unschedulable(context_.reasons.InternAll(result.reasons, pod.texts));
}

// ---- Scores

Verdict NodeNumaResource::PreScore(PodQuery& query, std::span<const uint8_t>) {
  const Pod& pod = query.state<Pod>(slot());
  return pod.cpus.verdict.ok() ? Verdict::Success() : Verdict::Skip();
}

void NodeNumaResource::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  const Pod& pod = query.state<Pod>(slot());
  const NodeTable& nodes = query.nodes();
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

int64_t NodeNumaResource::ScoreNode(const Pod& pod, const CpuPlan& plan, const RowView& view,
                                    const CpuBook::Row& facts) const {
  const NodeTable& nodes = context_.nodes();
  const double ratio = rules_[view.row].cpu_ratio;
  ResourceAmounts total, used, more = *pod.requests;
  for (const NumaScoring::Weight& each : scoring_.weights) {
    AddTo(total, {{each.id, nodes.allocatable(each.id)[view.row]}});
    int64_t requested = view.Requested(nodes, each.id);
    if (each.id == kCpuId && pod.cpus.milli_cpu > 0 && ratio > 1) {
      requested = WithAmplifiedCpus(requested, PinnedMilli(facts), ratio);
    }
    AddTo(used, {{each.id, requested}});
  }
  for (ResourceAmount& each : more) {
    if (each.id == kCpuId && plan.binds) each.amount = Amplified(each.amount, ratio);
  }
  return ShareScore(scoring_, total, used, more);
}

int64_t NodeNumaResource::ScoreRow(const PodQuery& query, const RowView& view) {
  const Pod& pod = query.state<Pod>(slot());
  CpuBook::Row changed;
  const CpuBook::Row& facts = FactsOf(view, changed);
  const Decided decided = Decide(pod, view, facts);
  if (decided.plan.binds && !facts.valid()) return 0;
  if (!decided.needs_trial) return ScoreNode(pod, decided.plan, view, facts);
  return WithTrial(pod, decided.plan, view, facts, [&](const NumaTrial& trial) -> int64_t {
    const NumaTrial::Result result = trial.Run();
    if (!result.ok) return 0;
    if (result.zones.empty()) return ScoreNode(pod, decided.plan, view, facts);
    NumaTrial::Use use = trial.UseOf(result.zones);
    ResourceAmounts more = *pod.requests;
    if (!result.cpus.empty()) {
      const double ratio = rules_[view.row].cpu_ratio;
      const int64_t used = AmountOf(use.used, kCpuId);
      AddTo(use.used, {{kCpuId, Amplified(PinnedMilli(facts), ratio) - used}});
      for (ResourceAmount& each : more) {
        if (each.id == kCpuId) each.amount = Amplified(each.amount, ratio);
      }
    }
    return ShareScore(scoring_, use.total, use.used, more);
  });
}

// ---- One pod

const NodeNumaResource::Pod& NodeNumaResource::PodOfShape(const PodShape& shape) {
  if (last_shape_ == shape.id) return *last_pod_;
  last_pod_.reset(static_cast<Pod*>(Compile(shape).release()));
  last_shape_ = shape.id;
  return *last_pod_;
}

Verdict NodeNumaResource::Reserve(Attempt& attempt) {
  const Pod& pod = PodOfShape(*attempt.shape);
  if (!pod.cpus.verdict.ok()) return Verdict::Success();
  const RowView view{attempt.row, nullptr};
  const CpuBook::Row& facts = book_.row(attempt.row);
  const Decided decided = Decide(pod, view, facts);
  if (decided.refusal != Refusal::kNone) {
    const RefusalText& refusal = kRefusals[static_cast<size_t>(decided.refusal)];
    return {refusal.code, {std::string(refusal.text)}};
  }
  if (!decided.plan.binds && !decided.needs_trial) return Verdict::Success();
  NumaTrial::Result result =
      WithTrial(pod, decided.plan, view, facts, [](const NumaTrial& trial) { return trial.Run(); });
  if (!result.ok) return {Code::kUnschedulable, std::move(result.reasons)};
  if (result.cpus.empty() && result.zones.empty()) return Verdict::Success();
  ResourceNames& names = context_.ledger.resources();
  auto given = std::make_unique<Given>();
  given->status = StatusOf(result, names);
  if (decided.plan.binds) given->spec = CompletedSpec(*attempt.pod, decided.plan);
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
