#pragma once
#include <string_view>
#include <vector>

#include "scheduler/config/candidate_args.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/preemption/preemption.h"

namespace koord::scheduler {

// Makes room for a pod that fits nowhere by evicting less important ones, by the rules of
// Kubernetes: see Preemption. Not for reservations: they are more important than everybody so that
// nobody evicts them, not so that they evict everybody.
class DefaultPreemption final : public PostFilterPlugin,
                                public PreEnqueuePlugin,
                                public RequeuePlugin {
 public:
  static constexpr std::string_view kName = "DefaultPreemption";

  DefaultPreemption(const PluginContext& context, const DefaultPreemptionArgs& args)
      : preemption_(context, rules_,
                    {.percent = args.min_candidate_nodes_percentage,
                     .at_least = args.min_candidate_nodes_absolute}) {}

  std::string_view name() const override { return kName; }
  PostFilterResult PostFilter(Attempt& attempt, PodQuery& query,
                              const Diagnosis& diagnosis) override {
    if (IsReservePod(*attempt.pod)) return {.verdict = {.code = Code::kUnschedulable}};
    return preemption_.Run(attempt, query, diagnosis);
  }
  bool MightHelp(const PodShape& shape, NodeRow row, Code code) const override {
    return !IsReservePod(*shape.sample) && preemption_.MightHelp(shape, row, code);
  }
  std::vector<EvictionPlan> Plans(const Attempt& attempt, PodQuery& query,
                                  const Diagnosis& diagnosis) override {
    if (IsReservePod(*attempt.pod)) return {};
    return preemption_.Plans(attempt, query, diagnosis);
  }
  PostFilterResult Choose(const Attempt& attempt, const std::vector<EvictionPlan>& plans) override {
    return preemption_.Choose(attempt, plans);
  }
  Verdict PreEnqueue(const kube::Pod& pod) override { return preemption_.Gate(pod); }
  bool MightCure(const kube::Pod&, const ClusterEvent& event) override {
    return Preemption::MightCure(event);
  }
  size_t remembered() const override { return preemption_.remembered(); }

 private:
  PreemptionRules rules_;
  Preemption preemption_;
};

}  // namespace koord::scheduler
