#pragma once
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "scheduler/config/node_numa_args.h"
#include "scheduler/framework/hint_provider.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/service_plugin.h"
#include "scheduler/plugins/node_numa_resource/node_rules.h"
#include "scheduler/plugins/node_numa_resource/numa_trial.h"
#include "scheduler/plugins/node_numa_resource/pod_cpus.h"

namespace koord::scheduler {

// Gives pods CPUs of their own and keeps them on few NUMA nodes.
//
// LSE and LSR pods get whole CPUs, packed onto whole cores or spread over them, as they say or as
// the arguments say for them; so do all pods on a node that insists on it. Where the node or the
// pod has a NUMA policy, CPUs, memory and all else that NUMA nodes offer come from as few of them
// as the policy demands. Of nodes that can do, scores prefer the fuller or the emptier ones, by
// NUMA node where there is a policy. On nodes whose cpu is amplified a CPU of a pod's own counts as
// much as it was amplified by.
//
// What filters promise is what Reserve charges: both run the same trial, in which those who give
// devices take part. A reservation keeps its CPUs and its shares of NUMA nodes, its owners get
// these before any others, and nobody else gets them. How many CPUs are free, on how many cores, is
// counted per node, so that pods without NUMA policy need no trial.
class NodeNumaResource final : public PreFilterPlugin,
                               public FilterPlugin,
                               public ScorePlugin,
                               public ReservePlugin,
                               public PreBindPlugin,
                               public RequeuePlugin,
                               public ServicePlugin,
                               public HintProvider,
                               public NumaAligner,
                               public LedgerListener {
 public:
  static constexpr std::string_view kName = "NodeNUMAResource";

  NodeNumaResource(const PluginContext& context, NodeNumaResourceArgs args);
  ~NodeNumaResource() override;

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  // Moves when the first node demands something, or the last one no longer does.
  uint64_t version() const override { return special_rows_ > 0 ? 1 : 0; }

  PreFilterResult PreFilter(PodQuery& query) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;

  Verdict PreScore(PodQuery& query, std::span<const uint8_t>) override;
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;
  int64_t ScoreRow(const PodQuery& query, const RowView& row) override;

  Verdict Reserve(Attempt& attempt) override;
  void Unreserve(Attempt&) override {}  // the ledger takes back what it was given
  void PreBind(Attempt& attempt, VerdictDone done) override;

  bool Wants(EventKind kind) const override;
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

  std::unique_ptr<HintTrial> Try(const TrialQuestion& question) override;
  Terms TermsFor(const TrialQuestion& question) override;
  std::vector<std::string> Explain(const TrialQuestion& question) override;

  void OnNodeAdded(NodeRow row) override;
  void OnNodeChanged(NodeRow row, const NodeChanges& changes) override;
  void OnNodeRemoved(NodeRow row) override;

  // nodes/{node}: its CPUs, who holds what, what is left.
  std::vector<Endpoint> Endpoints() override;
  StatusOr<kube::Json> Describe(std::string_view node) const;

 private:
  struct Pod;      // a shape, compiled
  struct Given;    // what an attempt was given
  struct Seen;     // a row as a pod sees it
  struct Decided;  // what is to be said of a row before any trial
  class Trial;     // of a question

  bool IsSpecial(NodeRow row) const { return special_[row] != 0; }
  void SetRules(NodeRow row);
  void SetSpecial(NodeRow row, bool special);
  void SeeWithReservation(const TrialQuestion& question, Seen& seen) const;
  void See(const TrialQuestion& question, Seen& seen) const;
  Decided Decide(const Pod& pod, const Seen& seen) const;
  model::NumaExclusivity ExclusivityFor(const Pod& pod, const Seen& seen) const;
  // Runs f(const NumaTrial&).
  template <class F>
  auto WithTrial(const Pod& pod, const CpuPlan& plan, const Seen& seen, F f) const;
  bool Passes(const PodShape& shape, const Pod& pod, NodeRow row);
  // One way of placing a pod; `decided` gets how far that was clear.
  Verdict CheckSource(const Pod& pod, const TrialQuestion& question, const Seen& seen,
                      const Decided& decided);
  RowVerdict CheckReserved(Pod& pod, const PodShape& shape, const RowView& view);
  RowVerdict ToRow(Pod& pod, Verdict verdict);
  int64_t ScoreSource(const Pod& pod, const TrialQuestion& question);
  int64_t ScoreNode(const Pod& pod, const CpuPlan& plan, const Seen& seen) const;
  Verdict ReserveFrom(const Pod& pod, const RoomSource& source, Attempt& attempt);
  Verdict Give(const CpuPlan& plan, NumaTrial::Result result, Attempt& attempt);
  Pod& PodOfShape(const PodShape& shape);

  PluginContext context_;
  const CpuBook& book_;
  NodeNumaResourceArgs args_;
  NumaScoring scoring_, numa_scoring_;
  model::NumaAllocateStrategy strategy_;
  std::vector<NodeRules> rules_;  // by row
  std::vector<uint8_t> special_;  // by row: the rules concern all pods
  size_t special_rows_ = 0;
  std::vector<ReasonId> reasons_;  // by Refusal
  // Shapes of attempts and trials, by their ids, and what they were compiled to.
  struct Known {
    uint32_t shape = 0;
    std::unique_ptr<Pod> pod;
  };
  std::array<Known, 64> known_;
};

}  // namespace koord::scheduler
