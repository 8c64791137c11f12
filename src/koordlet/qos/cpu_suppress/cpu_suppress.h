#pragma once
#include <string>
#include <vector>

#include "base/cpu_set.h"
#include "base/problem_log.h"
#include "koordlet/qos/framework/qos_strategy.h"

namespace koord::koordlet {

// Leaves best-effort pods what the others do not use.
//
// Every second the CPU that latency-sensitive pods, host applications and the system use is taken
// off a share of the node; the rest is what all best-effort pods together may have, as a set of
// processors or as a CFS quota, never less than two processors or 2 ms. They lose at once and gain
// slowly. The way that is not chosen, and both where the policy is switched off, go back to what
// the node has.
class CpuSuppress final : public QosStrategy {
 public:
  explicit CpuSuppress(const QosContext& context);

  std::string_view name() const override { return "CPUSuppresss"; }
  Duration interval() const override { return context_.options.cpu_suppress_interval; }
  void Run() override;

 private:
  // The cgroups of best-effort pods as they are now, whether or not anybody knows the pods.
  struct BeTree {
    CgroupDir root;
    std::vector<CgroupDir> pods;
    std::vector<CgroupDir> containers;
    bool operator==(const BeTree&) const = default;
  };

  void Suppress(const api::ResourceThresholdStrategy& strategy);
  std::optional<MilliCpu> CpuLeft(const api::ResourceThresholdStrategy& strategy);
  double UseOfUnlistedPods(Duration window);
  void SuppressByQuota(MilliCpu be);
  void SuppressByCpuset(MilliCpu be);
  // For a kubelet that gives out CPUs itself and rewrites what is above containers: that has all
  // CPUs, and only the containers are narrowed.
  void SuppressContainers(const BeTree& tree, const CpuSet& current, const CpuSet& chosen);
  void Tell(MilliCpu be, const std::string& outcome) const;
  CpuSet ChooseCpus(MilliCpu be, size_t current) const;

  void RecoverQuota();
  void RecoverCpuset();
  // For a node where BE pods get CPUs of their own: leaves the containers alone that have some.
  void RecoverUnmanagedCpusets();
  // What best-effort pods may use when nobody suppresses them; empty: not known.
  CpuSet RecoveryCpus() const;

  const BeTree& KnownBeTree();
  BeTree ReadBeTree() const;
  // Lets the directories grow downwards and shrink upwards to `cpus`. `lists` go from the top to
  // the bottom of the tree.
  void WriteCpusets(std::initializer_list<const std::vector<CgroupDir>*> lists, const CpuSet& old,
                    const CpuSet& cpus);
  void WriteCpuset(const CgroupDir& dir, const std::string& cpus);
  bool WriteQuota(int64_t quota);

  QosContext context_;
  ProblemLog problems_;
  const CgroupDir be_dir_;
  std::shared_ptr<const NodePods> listed_ = std::make_shared<const NodePods>();  // when last seen
  std::vector<std::string> unlisted_;  // uids of pods that were listed and may still have usage
  bool quota_recovered_ = false;
  BeTree tree_;                                // as it was a moment ago
  std::shared_ptr<const NodePods> tree_pods_;  // null: it is to be read again
  SteadyTime tree_read_{};
  // What all of the tree was given since it was read; none: not all has the same, or not surely.
  std::optional<CpuSet> written_;
  BeTree recovered_;  // what was given all CPUs the last time
  SteadyTime recovered_at_{};
  metrics::Gauges& suppressed_;
  metrics::Gauge& ls_used_;
  metrics::Gauge& be_used_;
};

}  // namespace koord::koordlet
