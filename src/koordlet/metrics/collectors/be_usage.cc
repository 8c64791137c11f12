#include "koordlet/metrics/collectors/be_usage.h"

#include <algorithm>
#include <cmath>

#include "api/extended_resources.h"
#include "base/cpu_set.h"
#include "base/strings.h"

namespace koord::koordlet {
namespace {

double BatchCpuOf(const kube::Container& container) {
  const auto& requests = container.resources.requests;
  return std::max<double>(static_cast<double>(kube::AmountOf(requests, api::kBatchCpu).Value()), 0);
}

double BatchCpuOf(const kube::Pod& pod) {
  double sum = 0;
  for (const kube::Container& container : pod.spec.containers) sum += BatchCpuOf(container);
  for (const kube::Container& container : pod.spec.init_containers) {
    if (kube::IsSidecar(container)) sum += BatchCpuOf(container);
  }
  return sum;
}

}  // namespace

void BeUsageCollector::CollectUsage(const CgroupDir& dir) {
  const Cgroups& cgroups = context_.host.cgroups();
  const SteadyTime now = Now();
  const auto text = usage_.Read(cgroups, CgroupFile::kCpuUsage, dir, buffer_);
  if (!text.ok()) return Complain(dir, text.status());
  const auto nanos = ParseCpuUsage(*text, cgroups.layout().version);
  if (!nanos.ok()) return Complain(dir, nanos.status());
  const bool has_last = last_nanos_.has_value() && now - last_at_ <= MaxAge();
  if (!has_last) context_.store.Append({Metric::kBeCpuUsage}, 0);
  if (has_last && now > last_at_ && *nanos >= *last_nanos_) {
    const double used_ms = static_cast<double>(*nanos - *last_nanos_) / 1e6;
    const double passed_ms = static_cast<double>((now - last_at_).count()) / 1e6;
    const auto milli = static_cast<int64_t>(used_ms / passed_ms * 1000);
    context_.store.Append({Metric::kBeCpuUsage}, static_cast<double>(milli));
  }
  last_nanos_ = *nanos;
  last_at_ = now;
}

void BeUsageCollector::SumRequests() {
  if (!pods_.Follow(context_.state)) return;
  request_ = 0;
  for (const auto& entry : pods_.entries()) {
    if (entry.container == nullptr && entry.pod->raw_qos == api::QosClass::kBe) {
      request_ += BatchCpuOf(*entry.pod->pod);
    }
  }
}

// To find it out is dear: each container of a best-effort pod may have a cpuset of its own.
bool BeUsageCollector::IsLimitWanted() const {
  const auto& slo = context_.state.slo();
  if (slo == nullptr || !slo->resource_used_threshold_with_be) return false;
  const api::ResourceThresholdStrategy& strategy = *slo->resource_used_threshold_with_be;
  return strategy.cpu_evict_be_satisfaction_lower_percent ||
         strategy.cpu_evict_be_satisfaction_upper_percent;
}

std::optional<double> BeUsageCollector::RealLimit(const CgroupDir& dir) {
  const Cgroups& cgroups = context_.host.cgroups();
  std::optional<size_t> smallest;
  const auto look_at = [&](KeptFile& file, const CgroupDir& of) {
    const auto text = file.Read(cgroups, CgroupFile::kCpuset, of, buffer_);
    const auto cpus = text.ok() ? CpuSet::Parse(Trim(*text)) : StatusOr<CpuSet>(text.status());
    if (!cpus.ok()) return Complain(of, cpus.status());
    if (!cpus->empty()) smallest = std::min(smallest.value_or(cpus->size()), cpus->size());
  };
  look_at(cpuset_, dir);
  if (!smallest.has_value()) return std::nullopt;
  for (auto& entry : pods_.entries()) {
    if (entry.container != nullptr && entry.pod->kube_qos == kube::PodQos::kBestEffort) {
      look_at(entry.memory, entry.dir());
    }
  }
  const double of_cpuset = 1000.0 * static_cast<double>(*smallest);
  const auto quota = cgroups.ReadCpuQuota(dir);
  const auto period = cgroups.ReadCpuPeriod(dir);
  if (!quota.ok() || !period.ok() || quota->unlimited() || quota->value() <= 0 || *period <= 0) {
    return of_cpuset;
  }
  return std::min(of_cpuset,
                  static_cast<double>(quota->value()) * 1000 / static_cast<double>(*period));
}

void BeUsageCollector::Collect() {
  if (!context_.state.has_pods()) return;
  const CgroupDir dir = context_.host.cgroups().layout().QosDir(kube::PodQos::kBestEffort);
  SumRequests();
  CollectUsage(dir);
  context_.store.Append({Metric::kBeCpuRequest}, request_);
  has_synced_ = true;
  if (!IsLimitWanted()) return;
  if (const auto limit = RealLimit(dir)) {
    context_.store.Append({Metric::kBeCpuLimit}, std::trunc(*limit));
  }
}

}  // namespace koord::koordlet
