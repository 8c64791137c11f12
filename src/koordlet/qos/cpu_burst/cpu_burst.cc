#include "koordlet/qos/cpu_burst/cpu_burst.h"

#include <algorithm>
#include <utility>

#include "koordlet/qos/framework/amounts.h"

namespace koord::koordlet {
namespace {

constexpr Duration kQuotaMaxAge = std::chrono::seconds(10);
constexpr Duration kBurstMaxAge = std::chrono::seconds(60);

bool IsBound(const NodePod& pod) {
  return pod.raw_qos == api::QosClass::kLse || pod.raw_qos == api::QosClass::kLsr;
}

MilliCpu CpuLimitOf(const kube::Container& container) {
  return CpuOf(container.resources.limits).value_or(MilliCpu());
}

// What the kubelet gives the pod's cgroup: a quota only where every container has a limit.
Limit KubeletQuota(const NodePod& pod) {
  const auto is_limited = [](const kube::Container& c) { return CpuLimitOf(c) > MilliCpu(); };
  const kube::PodSpec& spec = pod.pod->spec;
  if (!std::ranges::all_of(spec.containers, is_limited) ||
      !std::ranges::all_of(spec.init_containers, is_limited)) {
    return Limit::Unlimited();
  }
  return QuotaOf(CpuOf(pod.limits).value_or(MilliCpu()));
}

AuditEvent AboutOf(const NodePod& pod, std::string_view container, std::string_view reason) {
  return {.type = container.empty() ? AuditEvent::Type::kPod : AuditEvent::Type::kContainer,
          .level = 3,
          .ns = pod.pod->metadata.ns,
          .name = pod.pod->metadata.name,
          .container = std::string(container),
          .reason = std::string(reason),
          .message = {}};
}

}  // namespace

CpuBurst::CpuBurst(const QosContext& context)
    : context_(context),
      problems_("CPUBurst"),
      burst_gauges_(context.registry.AddGauges(
          "koordlet_container_scaled_cfs_burst_us", "CPU time that a container may save up",
          {"node", "pod_namespace", "pod_name", "container_id", "container_name"})),
      quota_gauges_(context.registry.AddGauges(
          "koordlet_container_scaled_cfs_quota_us", "CPU quota of a container, as it is scaled",
          {"node", "pod_namespace", "pod_name", "container_id", "container_name"})) {}

void CpuBurst::Run() {
  const auto& slo = context_.state.slo();
  if (slo == nullptr || !slo->cpu_burst_strategy) return;
  const SteadyTime now = context_.clock.Steady();
  NodeInputs inputs = NodeInputs::Of(context_.state);
  const bool is_new = inputs != inputs_;
  if (is_new) {
    inputs_ = std::move(inputs);
    Plan();
  }
  if (is_new || now - bursts_applied_ >= kBurstMaxAge) {
    ApplyBursts();
    bursts_applied_ = now;
  }
  const bool scales =
      std::ranges::any_of(plan_, [](const Pod& pod) { return pod.config.scales_quota(); });
  const SharePool pool = scales ? ReadSharePool() : SharePool::kUnknown;
  for (Pod& pod : plan_) {
    ScaleQuotas(pod, pool);
    if (is_new) RestorePodQuota(pod);
  }
  if (std::exchange(changed_, false) || is_new) Publish();
}

void CpuBurst::Plan() {
  StringMap<Container> known;
  for (Pod& pod : plan_) {
    for (Container& c : pod.containers) {
      std::string dir = c.dir.path();
      known.emplace(std::move(dir), std::move(c));
    }
  }
  plan_.clear();
  for (const NodePod& pod : *inputs_.pods) {
    if (MayBurst(pod)) plan_.push_back(PlanPod(pod, known));
  }
}

CpuBurst::Pod CpuBurst::PlanPod(const NodePod& pod, StringMap<Container>& known) const {
  Pod plan;
  plan.pod = &pod;
  plan.config =
      MergeBurstConfig(*inputs_.slo->cpu_burst_strategy, pod.cpu_burst ? &*pod.cpu_burst : nullptr);
  plan.base = KubeletQuota(pod);
  for (const NodeContainer& container : pod.containers) {
    if (container.is_init || container.spec == nullptr || container.dir.is_root()) continue;
    Container c;
    if (const auto it = known.find(container.dir.path()); it != known.end())
      c = std::move(it->second);
    c.dir = container.dir;
    c.id = container.id;
    c.name = container.spec->name;
    c.is_running = container.is_running;
    c.limit = CpuLimitOf(*container.spec);
    c.base = c.limit > MilliCpu() ? QuotaOf(c.limit).value() : 0;
    c.quota_read.reset();  // whoever changed the pod may have changed it, too
    c.burst = StaticBurst(c.limit, plan.config);
    plan.burst = std::min(Plus(plan.burst, c.burst), kMaxBurstMicros);
    plan.containers.push_back(std::move(c));
  }
  return plan;
}

void CpuBurst::ApplyBursts() {
  for (const Pod& pod : plan_) {
    int64_t sum = 0;
    for (const Container& c : pod.containers) {
      if (!ApplyBurst(*pod.pod, &c, c.dir, c.burst, c.base)) continue;
      sum += kernel_caps_burst_ ? std::min(c.burst, c.base) : c.burst;
    }
    sum = std::min(sum, kMaxBurstMicros);
    ApplyBurst(*pod.pod, nullptr, pod.pod->dir, sum, pod.base.value());
  }
}

bool CpuBurst::ApplyBurst(const NodePod& pod, const Container* container, const CgroupDir& dir,
                          int64_t burst, int64_t quota) {
  const auto apply = [&](int64_t value) {
    return context_.executor.Apply(
        {CgroupTarget{CgroupFile::kCpuBurst, dir}, std::to_string(value),
         AboutOf(pod, container == nullptr ? "" : container->name, "AdjustCPUBurst")});
  };
  const int64_t capped = std::min(burst, quota);
  auto applied = apply(kernel_caps_burst_ ? capped : burst);
  if (!applied.ok() && capped < burst && !kernel_caps_burst_) {
    applied = apply(capped);
    kernel_caps_burst_ = applied.ok();
  }
  if (!applied.ok())
    problems_.Report({.object = dir, .kind = "burst is not writable"}, applied.status());
  return applied.ok();
}

SharePool CpuBurst::ReadSharePool() const {
  const Duration window =
      std::min<Duration>(5 * context_.reconcile_interval, std::chrono::seconds(10));
  const auto& cpus = context_.info.cpu();
  const auto node = context_.metrics.Average({Metric::kNodeCpu}, window);
  if (cpus == nullptr || !node) return SharePool::kUnknown;
  auto total = static_cast<double>(cpus->topology.processors().size());
  double used = node->average;
  for (const NodePod& pod : *inputs_.pods) {
    const bool bound = IsBound(pod);
    if (!bound && pod.raw_qos != api::QosClass::kBe) continue;
    if (bound) {
      total -= CpuOf(pod.requests).value_or(MilliCpu()).cores();
    }
    if (const auto of_pod = context_.metrics.Average({Metric::kPodCpu, pod.uid()}, window)) {
      used -= of_pod->average;
    }
  }
  const auto& threshold = inputs_.slo->cpu_burst_strategy->share_pool_threshold_percent;
  if (!threshold) return SharePool::kUnknown;  // the NodeSLO in force has one always
  return SharePoolOf(used, total, *threshold);
}

void CpuBurst::ScaleQuotas(Pod& pod, SharePool pool) {
  // The pod's quota follows from all of them.
  for (Container& c : pod.containers) {
    if (IsScaled(c)) ReadQuota(c);
  }
  for (Container& c : pod.containers) {
    if (IsScaled(c)) ScaleQuota(pod, c, pool);
  }
}

void CpuBurst::ScaleQuota(const Pod& pod, Container& c, SharePool pool) {
  const Duration window = 2 * context_.collect_interval;
  QuotaStep step = QuotaStep::kReset;
  if (pod.config.scales_quota()) {
    const bool allowed = LimiterAllows(pod.config, c);
    const auto throttled = context_.metrics.Last({Metric::kContainerThrottled, c.id}, window);
    step = StepOnNode(WantedStep(pod.config, allowed, throttled), pool);
  }
  const std::optional<int64_t> current = ReadQuota(c);
  if (!current) return;
  const int64_t target = NextQuota(step, *current, c.base, pod.config);
  Tell(*pod.pod, c, step, pool, *current, target);
  if (target == *current) return;

  const CgroupDir& pod_dir = pod.pod->dir;
  const auto of_pod = context_.host.cgroups().ReadCpuQuota(pod_dir);
  const auto write_pod = [&] {
    if (!of_pod.ok() || of_pod->unlimited() || of_pod->value() <= 0) return true;
    // Not the pod's own plus the step, which would keep what a crash between two writes has left.
    const int64_t wanted = pod.base.unlimited()
                               ? std::max(Plus(of_pod->value(), target - *current), c.base)
                               : Plus(QuotaAround(pod, &c), target - c.base);
    return WriteQuota(*pod.pod, nullptr, pod_dir, wanted);
  };
  // At no moment may the container have more than its pod.
  if (target > *current && !write_pod()) return;
  const bool written = WriteQuota(*pod.pod, &c, c.dir, target);
  if (target < *current && written) write_pod();
  c.quota_read.reset();
  if (written) c.last_quota = target;
  changed_ = true;
}

void CpuBurst::Tell(const NodePod& pod, const Container& c, QuotaStep step, SharePool pool,
                    int64_t current, int64_t target) const {
  if (!context_.on_decision) return;
  context_.on_decision(
      {name(), fmt::format("{}/{}/{}", pod.pod->metadata.ns, pod.pod->metadata.name, c.name),
       fmt::format("{} (node {}): quota {} us, before {} us, burst {} us", ToString(step),
                   ToString(pool), target, current, c.burst)});
}

bool CpuBurst::LimiterAllows(const BurstConfig& config, Container& c) {
  const int64_t period = config.quota_burst_period_seconds;
  if (period < 0) return true;
  const int64_t percent = config.quota_burst_percent.value_or(0);
  if (percent < 100) return false;
  const SteadyTime now = context_.clock.Steady();
  if (!c.limiter || !c.limiter->IsFor(period, percent) || c.limiter->IsExpired(now)) {
    c.limiter.emplace(period, percent, now, context_.random);
  }
  const auto used =
      context_.metrics.Last({Metric::kContainerCpu, c.id}, 2 * context_.collect_interval);
  const double limit = c.limit.cores();
  return c.limiter->Allows(used ? Truncate(*used / limit * 100) : 100, now);
}

std::optional<int64_t> CpuBurst::ReadQuota(Container& c) {
  const SteadyTime now = context_.clock.Steady();
  if (c.quota_read && now - *c.quota_read < kQuotaMaxAge) return c.quota;
  c.quota.reset();
  c.last_quota.reset();
  c.quota_read.reset();
  const auto read = context_.host.cgroups().ReadCpuQuota(c.dir);
  if (!read.ok()) return std::nullopt;
  c.quota_read = now;
  // One without a quota was set free by somebody else, who may have bound it to processors.
  if (read->unlimited() || read->value() <= 0) return std::nullopt;
  c.quota = c.last_quota = read->value();
  return c.quota;
}

int64_t CpuBurst::QuotaAround(const Pod& pod, const Container* but) {
  int64_t quota = pod.base.value();
  for (const Container& c : pod.containers) {
    if (&c != but && IsScaled(c)) quota = Plus(quota, c.last_quota.value_or(c.base) - c.base);
  }
  return quota;
}

void CpuBurst::RestorePodQuota(const Pod& pod) {
  // A container that has ended while its quota was raised takes its part of the pod's quota along,
  // and koordlet may have ended between the container and the pod.
  if (pod.base.unlimited()) return;
  const auto read = context_.host.cgroups().ReadCpuQuota(pod.pod->dir);
  const int64_t wanted = std::max(QuotaAround(pod, nullptr), pod.base.value());
  if (!read.ok() || read->unlimited() || read->value() <= wanted) return;
  WriteQuota(*pod.pod, nullptr, pod.pod->dir, wanted);
}

bool CpuBurst::WriteQuota(const NodePod& pod, const Container* container, const CgroupDir& dir,
                          int64_t quota) {
  const auto written = context_.executor.ApplyNow(
      {CgroupTarget{CgroupFile::kCpuQuota, dir}, std::to_string(quota),
       AboutOf(pod, container == nullptr ? "" : container->name, "AdjustCFSQuota")});
  if (!written.ok())
    problems_.Report({.object = dir, .kind = "quota is not writable"}, written.status());
  return written.ok();
}

void CpuBurst::Publish() {
  burst_gauges_.Clear();
  quota_gauges_.Clear();
  for (const Pod& pod : plan_) {
    const auto& meta = pod.pod->pod->metadata;
    for (const Container& c : pod.containers) {
      if (c.base <= 0) continue;
      const std::string_view labels[] = {context_.node_name, meta.ns, meta.name, c.id, c.name};
      burst_gauges_.With(labels).Set(static_cast<double>(c.burst));
      if (c.last_quota) quota_gauges_.With(labels).Set(static_cast<double>(*c.last_quota));
    }
  }
}

}  // namespace koord::koordlet
