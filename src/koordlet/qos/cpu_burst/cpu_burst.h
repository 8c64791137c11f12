#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/problem_log.h"
#include "base/string_map.h"
#include "koordlet/host/limit.h"
#include "koordlet/qos/cpu_burst/burst_rules.h"
#include "koordlet/qos/framework/node_inputs.h"
#include "koordlet/qos/framework/qos_strategy.h"

namespace koord::koordlet {

// Lets containers go beyond their CPU limits for a moment, so that short peaks are not throttled.
//
// Two means: the kernel saves up unused quota (cfs burst), and the quota of a throttled container
// is raised step by step while the processors that pods share are idle enough, and lowered again. A
// pod whose policy is off has no burst and the quotas that the kubelet gave it. LSE, LSR and BE
// pods are left alone.
class CpuBurst final : public QosStrategy {
 public:
  explicit CpuBurst(const QosContext& context);

  std::string_view name() const override { return "CPUBurst"; }
  Duration interval() const override { return context_.reconcile_interval; }
  void Run() override;

 private:
  struct Container {
    CgroupDir dir;
    std::string_view id;    // of the pod's object
    std::string_view name;  // of the pod's object
    MilliCpu limit;
    int64_t base = 0;  // the kubelet's quota; 0: it has none
    int64_t burst = 0;
    bool is_running = false;
    // What the file was seen to hold, for a while: nobody else is expected to write it.
    std::optional<int64_t> quota;  // none: no quota at all
    std::optional<SteadyTime> quota_read;
    std::optional<int64_t> last_quota;  // that was read or written
    std::optional<BurstLimiter> limiter;
  };
  struct Pod {
    const NodePod* pod = nullptr;
    BurstConfig config;
    Limit base = Limit::Unlimited();
    int64_t burst = 0;
    std::vector<Container> containers;
  };

  // Whether there is a quota to raise.
  static bool IsScaled(const Container& c) { return c.is_running && c.base > 0; }

  void Plan();
  Pod PlanPod(const NodePod& pod, StringMap<Container>& known) const;

  void ApplyBursts();
  bool ApplyBurst(const NodePod& pod, const Container* container, const CgroupDir& dir,
                  int64_t burst, int64_t quota);

  SharePool ReadSharePool() const;
  void ScaleQuotas(Pod& pod, SharePool pool);
  void ScaleQuota(const Pod& pod, Container& container, SharePool pool);
  void Tell(const NodePod& pod, const Container& c, QuotaStep step, SharePool pool, int64_t current,
            int64_t target) const;
  bool LimiterAllows(const BurstConfig& config, Container& container);
  std::optional<int64_t> ReadQuota(Container& container);
  // The kubelet's quota of the pod and what its containers, `but` one, have beyond theirs.
  static int64_t QuotaAround(const Pod& pod, const Container* but);
  void RestorePodQuota(const Pod& pod);
  bool WriteQuota(const NodePod& pod, const Container* container, const CgroupDir& dir,
                  int64_t quota);
  void Publish();

  QosContext context_;
  ProblemLog problems_;
  NodeInputs inputs_;
  std::vector<Pod> plan_;
  SteadyTime bursts_applied_{};
  bool kernel_caps_burst_ = false;  // at the quota, as mainline kernels do
  bool changed_ = false;            // since metrics were published
  metrics::Gauges& burst_gauges_;
  metrics::Gauges& quota_gauges_;
};

}  // namespace koord::koordlet
