#include "scheduler/plugins/elastic_quota/elastic_quota.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "scheduler/quota_controller/overuse_controller.h"
#include "scheduler/quota_controller/quota_controller.h"
#include "scheduler/quota_service/quota_service.h"

namespace koord::scheduler {
namespace {

// Evictions within a quota are few: every node with a victim is looked at.
constexpr CandidateCount kAllNodes{.percent = 100, .at_least = 0};
constexpr std::string_view kNoVictims = "No victims found on node for preemptor pod";

QuotaBook::Terminating TerminatingBy(const PluginContext& context) {
  if (context.Enabled("ElasticQuotaImmediateIgnoreTerminatingPod")) {
    return QuotaBook::Terminating::kIgnore;
  }
  return context.Enabled("ElasticQuotaIgnoreTerminatingPod")
             ? QuotaBook::Terminating::kCountUntilGrace
             : QuotaBook::Terminating::kCount;
}

QuotaBook& Opened(const PluginContext& context, const ElasticQuotaArgs& args) {
  context.objects.elastic_quotas.Need();
  context.books.quotas.Open(
      {.tree = {.multi_tree = context.Enabled("MultiQuotaTree"),
                .scale_min = args.enable_min_quota_scale,
                .guarantee_usage = context.Enabled("ElasticQuotaGuaranteeUsage")},
       .no_default = context.Enabled("DisableDefaultQuota"),
       .ignore_overhead = context.Enabled("ElasticQuotaIgnorePodOverhead"),
       .terminating = TerminatingBy(context),
       .index_built_in = !args.disable_default_quota_preemption || args.monitor_all_quotas,
       .default_max = args.default_quota_group_max,
       .system_max = args.system_quota_group_max},
      {.quotas = context.objects.elastic_quotas, .loop = context.loop, .pending = context.pending});
  return context.books.quotas;
}

}  // namespace

// What the pods of a shape ask of which quota.
struct ElasticQuotaPlugin::State final : PluginState {
  uint64_t structure = 0;
  const model::Quota* quota = nullptr;
  model::QuotaCharge charge;
};

ElasticQuotaPlugin::ElasticQuotaPlugin(const PluginContext& context, const ElasticQuotaArgs& args)
    : context_(context),
      book_(Opened(context, args)),
      rules_{.runtime = args.enable_runtime_quota, .check_parents = args.enable_check_parent_quota},
      eviction_rules_(context, rules_, args.disable_default_quota_preemption),
      preemption_(context, eviction_rules_, kAllNodes, kNoVictims),
      waiters_(context, rules_) {
  if (context.leader_parts == nullptr) return;
  QuotaController::AddTo(context, args);
  if (args.monitor_all_quotas && args.enable_runtime_quota) {
    OverUseController::AddTo(context, args);
  }
}

std::unique_ptr<PluginState> ElasticQuotaPlugin::Compile(const PodShape&) {
  return std::make_unique<State>();
}

Verdict ElasticQuotaPlugin::Admit(const kube::Pod& pod, const PodQuery& query) {
  auto& state = query.state<State>(slot());
  if (state.structure != book_.structure()) {
    state.structure = book_.structure();
    state.quota = book_.QuotaOf(pod);
    if (state.quota != nullptr) state.charge = book_.ChargeOf(pod, *state.quota);
  }
  if (state.quota == nullptr) return Verdict::Success();
  // As it is for most pods: nothing limits the default quota.
  if (rules_.runtime && model::IsBuiltInQuota(state.quota->name()) &&
      !state.charge.non_preemptible) {
    return Verdict::Success();
  }
  const auto shortfall = model::CheckAdmission(book_.tree(), *state.quota, state.charge, rules_);
  if (!shortfall) return Verdict::Success();
  std::string text = model::TextOf(*shortfall, book_.tree(), *state.quota, state.charge);
  const bool is_error = shortfall->kind == model::QuotaShortfall::Kind::kDetached;
  return is_error ? Verdict::Error(std::move(text)) : Verdict::Unschedulable(std::move(text));
}

// ---- When there is no room

bool ElasticQuotaPlugin::MayPreempt(const kube::Pod& pod, const Diagnosis& diagnosis) {
  if (IsReservePod(pod)) return false;
  if (diagnosis.pre_filter.rejected() && diagnosis.pre_filter.plugin != kName) return false;
  return eviction_rules_.Begin(pod);
}

PostFilterResult ElasticQuotaPlugin::PostFilter(Attempt& attempt, PodQuery& query,
                                                const Diagnosis& diagnosis) {
  if (!MayPreempt(*attempt.pod, diagnosis)) {
    return {.verdict = {.code = Code::kUnschedulable}, .of_shape = true};
  }
  return preemption_.Run(attempt, query, diagnosis);
}

bool ElasticQuotaPlugin::MightHelp(const PodShape& shape, NodeRow row, Code code) const {
  return !IsReservePod(*shape.sample) && preemption_.MightHelp(shape, row, code);
}

std::vector<EvictionPlan> ElasticQuotaPlugin::Plans(const Attempt& attempt, PodQuery& query,
                                                    const Diagnosis& diagnosis) {
  if (!MayPreempt(*attempt.pod, diagnosis)) return {};
  return preemption_.Plans(attempt, query, diagnosis);
}

PostFilterResult ElasticQuotaPlugin::Choose(const Attempt& attempt,
                                            const std::vector<EvictionPlan>& plans) {
  return preemption_.Choose(attempt, plans);
}

void ElasticQuotaPlugin::AfterPostFilter(const Attempt& attempt, const Diagnosis& diagnosis,
                                         const PostFilterResult&) {
  if (diagnosis.pre_filter.rejected() && diagnosis.pre_filter.plugin == kName) {
    waiters_.Add(attempt.pod);
  } else {
    waiters_.Remove(attempt.pod->metadata.uid);
  }
}

bool ElasticQuotaPlugin::MightCure(const kube::Pod& rejected, const ClusterEvent& event) {
  return event.kind != EventKind::kElasticQuotaChanged || !Check(rejected);
}

std::optional<model::QuotaShortfall> ElasticQuotaPlugin::Check(const kube::Pod& pod) const {
  const model::Quota* quota = book_.QuotaOf(pod);
  if (quota == nullptr) return std::nullopt;
  return model::CheckAdmission(book_.tree(), *quota, book_.ChargeOf(pod, *quota), rules_);
}

// ---- For people

std::string ElasticQuotaPlugin::WhatItWaitsFor(const kube::Pod& pod, const PodQuery&) {
  const auto shortfall = Check(pod);
  if (!shortfall) return "";
  return model::ExplainShortfall(*shortfall, book_.tree(),
                                 book_.ChargeOf(pod, *book_.QuotaOf(pod)));
}

StatusOr<model::QuotaExplanation> ElasticQuotaPlugin::ExplainQuota(std::string_view name) const {
  const model::QuotaTree& tree = book_.tree();
  if (!name.empty() && tree.Find(name) == nullptr) return NotFound("cannot find quota {}", name);
  model::QuotaExplanation explanation{.quotas = model::ExplainQuotas(tree, name), .waiting = {}};
  std::set<std::string_view> shown;
  for (const model::QuotaLine& line : explanation.quotas) shown.insert(line.name);
  book_.ForEachPending([&](const kube::Pod& pod, const model::Quota& quota) {
    if (!shown.contains(quota.name())) return;
    const auto shortfall = Check(pod);
    std::string why = "its quota has room for it: what it waits for is a node";
    if (shortfall) {
      why = model::ExplainShortfall(*shortfall, tree, book_.ChargeOf(pod, quota));
    }
    explanation.waiting.push_back(
        {.pod = KeyOf(pod.metadata).ToString(), .quota = quota.name(), .why = std::move(why)});
  });
  std::ranges::sort(explanation.waiting, {}, [](const model::WaitingPod& waiting) {
    return std::tie(waiting.quota, waiting.pod);
  });
  return explanation;
}

std::vector<ServicePlugin::Endpoint> ElasticQuotaPlugin::Endpoints() {
  std::vector<Endpoint> endpoints = QuotaEndpoints(book_);
  const auto explain = [this](const Params& params) -> StatusOr<kube::Json> {
    const auto name = params.find("name");
    ASSIGN_OR_RETURN(const model::QuotaExplanation explanation,
                     ExplainQuota(name == params.end() ? "" : name->second));
    return kube::Encode(explanation);
  };
  endpoints.push_back({"explanation", explain});
  endpoints.push_back({"explanation/{name}", explain});
  return endpoints;
}

}  // namespace koord::scheduler
