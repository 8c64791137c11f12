#include "scheduler/cycle/post_filter_cycle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

namespace koord::scheduler {
namespace {

FailedAttempt RejectedBy(const std::vector<uint32_t>& slots, const PluginLineup& plugins) {
  FailedAttempt failure{.rejected = true};
  for (const uint32_t slot : slots) {
    failure.rejected_by.push_back({std::string(plugins.NameOfSlot(slot))});
  }
  for (const std::string& name : plugins.cures_others()) {
    failure.rejected_by.push_back({.plugin = name, .only_listens = true});
  }
  return failure;
}

}  // namespace

void PostFilterCycle::Run(Runtime& runtime, const std::shared_ptr<Attempt>& attempt,
                          const Extenders::Answer* said, const Agreed* agreed) {
  Pipeline& pipeline = runtime.pipeline();
  Diagnosis diagnosis = pipeline.Diagnose(*attempt->pod, attempt->shape);
  DiagnosisTable with_refused;
  ReasonHold refusals;
  if (said != nullptr) {
    with_refused = parts_.extenders.WithRefused(diagnosis.rows, *said, refusals);
    diagnosis.rows = with_refused;
  }
  const KnownUnfit* known = diagnosis.pre_filter.rejected()
                                ? nullptr  // this pod is told something of its own
                                : pipeline.KnownUnfitOf(*attempt->pod, attempt->shape);
  if (known != nullptr) return FailLikeOthers(runtime, *attempt, diagnosis, *known);
  auto rejectors = RejectorsIn(diagnosis, runtime.plugins());
  if (!rejectors.ok()) {
    return parts_.failures.Handle(runtime, *attempt,
                                  FailedAttempt::Error(std::string(Message(rejectors.status()))));
  }
  if (said != nullptr && said->narrowed && !diagnosis.pre_filter.rejected() &&
      (rejectors->empty() || rejectors->back() != kExtenderSlot)) {
    rejectors->push_back(kExtenderSlot);  // it need not say why, nor of which node
  }
  if (agreed == nullptr && AskToEvict(runtime, attempt, said, diagnosis)) return;
  const Outcome outcome = AskPlugins(runtime, *attempt, diagnosis, agreed);
  Fail(runtime, *attempt, diagnosis, *std::move(rejectors), outcome);
}

StatusOr<std::vector<uint32_t>> PostFilterCycle::RejectorsIn(const Diagnosis& diagnosis,
                                                             const PluginLineup& plugins) const {
  if (diagnosis.pre_filter.rejected()) return std::vector<uint32_t>();  // no row was looked at
  std::set<uint32_t> slots;
  for (const auto& [why, rows] : diagnosis.rows.kinds()) {
    if (rows == 0 || why.verdict.ok()) continue;
    if (why.verdict.code == Code::kError) {
      return Internal("running \"{}\" filter plugin: {}", plugins.plugins[why.plugin]->name(),
                      parts_.reasons.TextOf(why.verdict.reasons.front()));
    }
    slots.insert(why.plugin);
  }
  return std::vector<uint32_t>(slots.begin(), slots.end());
}

bool PostFilterCycle::AskToEvict(Runtime& runtime, const std::shared_ptr<Attempt>& attempt,
                                 const Extenders::Answer* said, const Diagnosis& diagnosis) {
  if (!parts_.extenders.HasAny()) return false;
  auto copy = said == nullptr ? std::optional<Extenders::Answer>() : *said;
  return parts_.extenders.AskToEvict(
      *attempt, runtime.pipeline().QueryFor(attempt->shape).query(), diagnosis,
      runtime.plugins().post_filter,
      [this, &runtime, attempt, said = std::move(copy)](const Agreed& agreed) {
        Run(runtime, attempt, said ? &*said : nullptr, &agreed);
      });
}

PostFilterCycle::Outcome PostFilterCycle::AskPlugins(Runtime& runtime, Attempt& attempt,
                                                     const Diagnosis& diagnosis,
                                                     const Agreed* agreed) const {
  parts_.timer.Restart(attempt);
  // What extenders say, or what is promised to the pod, is about this pod alone.
  Outcome outcome{.of_shape = !diagnosis.pre_filter.rejected() && !parts_.extenders.HasAny() &&
                              parts_.nominations.NodeOf(attempt.pod->metadata.uid).empty()};
  std::vector<std::string> messages;
  for (PostFilterPlugin* plugin : runtime.plugins().post_filter) {
    PostFilterResult result = Ask(*plugin, runtime, attempt, diagnosis, agreed);
    if (result.nominated_node) outcome.nominated_node = std::move(result.nominated_node);
    if (!result.verdict.ok() && !result.verdict.Message().empty()) {
      messages.push_back(result.verdict.Message());
    }
    outcome.of_shape = outcome.of_shape && result.of_shape;
    outcome.code = result.verdict.code;
    if (outcome.code != Code::kUnschedulable) break;
  }
  outcome.message = fmt::format("{}", fmt::join(messages, ", "));
  if (!runtime.plugins().post_filter.empty()) {
    parts_.timer.End(CyclePoint::kPostFilter, attempt, outcome.code);
  }
  return outcome;
}

PostFilterResult PostFilterCycle::Ask(PostFilterPlugin& plugin, Runtime& runtime, Attempt& attempt,
                                      const Diagnosis& diagnosis, const Agreed* agreed) const {
  if (agreed == nullptr || agreed->plugin != &plugin) {
    PodQuery& query = runtime.pipeline().QueryFor(attempt.shape).query();
    return plugin.PostFilter(attempt, query, diagnosis);
  }
  if (!agreed->plans.ok()) return {Verdict::Error(std::string(Message(agreed->plans.status())))};
  if (!still_wanted_(*attempt.pod)) return {Verdict::Unschedulable("")};
  return plugin.Choose(attempt, *agreed->plans);
}

void PostFilterCycle::TellAfter(Runtime& runtime, const Attempt& attempt,
                                const Diagnosis& diagnosis, Code code, const std::string& message,
                                const std::optional<std::string>& nominated_node) {
  const auto& plugins = runtime.plugins().after_post_filter;
  if (plugins.empty()) return;
  PostFilterResult result{.verdict = {.code = code}, .nominated_node = nominated_node};
  if (!message.empty()) result.verdict.reasons.push_back(message);
  for (AfterPostFilterPlugin* plugin : plugins) {
    plugin->AfterPostFilter(attempt, diagnosis, result);
  }
}

void PostFilterCycle::Fail(Runtime& runtime, Attempt& attempt, const Diagnosis& diagnosis,
                           std::vector<uint32_t> rejectors, const Outcome& outcome) {
  TellAfter(runtime, attempt, diagnosis, outcome.code, outcome.message, outcome.nominated_node);
  parts_.timer.observer().OnUnfit(
      attempt, runtime.pipeline(), diagnosis,
      {.message = outcome.message, .nominated_node = outcome.nominated_node.value_or("")});
  FailedAttempt failure = RejectedBy(rejectors, runtime.plugins());
  if (diagnosis.pre_filter.rejected()) {
    failure.rejected_by = {
        {diagnosis.pre_filter.plugin, diagnosis.pre_filter.code == Code::kPending}};
  }
  failure.nominated_node = outcome.nominated_node;
  failure.message = FitErrorMessage(diagnosis, parts_.reasons, outcome.message);
  if (outcome.of_shape) {
    failure.unfit = runtime.pipeline().UnfitNow(attempt.shape);
    runtime.pipeline()
        .QueryFor(attempt.shape)
        .SetKnownUnfit({.rejectors = std::move(rejectors),
                        .post_filter = outcome.message,
                        .nominated_node = outcome.nominated_node,
                        .message = failure.message});
  }
  parts_.failures.Handle(runtime, attempt, std::move(failure));
}

void PostFilterCycle::FailLikeOthers(Runtime& runtime, Attempt& attempt, const Diagnosis& diagnosis,
                                     const KnownUnfit& known) {
  TellAfter(runtime, attempt, diagnosis, Code::kUnschedulable, known.post_filter,
            known.nominated_node);
  FailedAttempt failure = RejectedBy(known.rejectors, runtime.plugins());
  failure.nominated_node = known.nominated_node;
  failure.message = known.message;
  failure.unfit = runtime.pipeline().UnfitNow(attempt.shape);
  if (!runtime.plugins().post_filter.empty()) {
    parts_.timer.Restart(attempt);
    parts_.timer.End(CyclePoint::kPostFilter, attempt, Code::kUnschedulable);
  }
  parts_.timer.observer().OnUnfit(
      attempt, runtime.pipeline(), diagnosis,
      {.message = known.post_filter, .nominated_node = known.nominated_node.value_or("")});
  parts_.failures.Handle(runtime, attempt, std::move(failure));
}

}  // namespace koord::scheduler
