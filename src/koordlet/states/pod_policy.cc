#include "koordlet/states/pod_policy.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "api/keys.h"
#include "base/log.h"

namespace koord::koordlet {
namespace {

std::string NameOf(const kube::Pod& pod) { return pod.metadata.ns + "/" + pod.metadata.name; }

bool Clamp(std::optional<int64_t>& value, int64_t least, int64_t most) {
  if (!value || (*value >= least && *value <= most)) return false;
  *value = std::clamp(*value, least, most);
  return true;
}

// A period of less than zero never ends.
bool IsLonger(int64_t period, int64_t than) {
  if (than < 0) return false;
  return period < 0 || period > than;
}

struct MemoryField {
  std::string_view name;
  std::optional<int64_t> api::MemoryQos::*value;
  int64_t least;
  int64_t most;
};
constexpr MemoryField kMemoryFields[] = {
    {"minLimitPercent", &api::MemoryQos::min_limit_percent, 0, 100},
    {"lowLimitPercent", &api::MemoryQos::low_limit_percent, 0, 100},
    {"throttlingPercent", &api::MemoryQos::throttling_percent, 0, 100},
    {"wmarkRatio", &api::MemoryQos::wmark_ratio, 0, 100},
    {"wmarkScalePermill", &api::MemoryQos::wmark_scale_permill, 1, 1000},
    {"wmarkMinAdj", &api::MemoryQos::wmark_min_adj, -25, 50},
    {"priorityEnable", &api::MemoryQos::priority_enable, 0, 1},
    {"priority", &api::MemoryQos::priority, 0, 12},
    {"oomKillGroup", &api::MemoryQos::oom_kill_group, 0, 1},
    {"pageCacheLimitPercent", &api::MemoryQos::page_cache_limit_percent, 0, 100},
};

}  // namespace

PodPolicy::PodPolicy(TrustPolicy trust, metrics::Registry* registry) : trust_(std::move(trust)) {
  if (registry == nullptr) return;
  refused_ =
      &registry->AddCounters("koordlet_pod_annotation_refused_total",
                             "Wishes of pods that were refused or cut down, by key.", {"key"});
}

void PodPolicy::Report(const kube::Pod& pod, std::string_view key, std::string_view what) {
  if (!complaints_.IsNew(pod.metadata.uid, key, what)) return;
  LOG_WARNING("A pod may not have all that it asks for", {"pod", NameOf(pod)}, {"key", key},
              {"problem", what});
  if (refused_ != nullptr) refused_->With({key}).Increment();
}

std::shared_ptr<const kube::Pod> PodPolicy::Slim(std::shared_ptr<const kube::Pod> pod) {
  if (trust_.trust_pod_authors) return pod;
  const auto is_large = [&](const auto& annotation) {
    return annotation.second.size() > trust_.max_annotation_bytes;
  };
  const kube::Annotations& annotations = pod->metadata.annotations;
  if (std::none_of(annotations.begin(), annotations.end(), is_large)) return pod;
  auto slim = std::make_shared<kube::Pod>(*pod);
  auto& kept = slim->metadata.annotations;
  for (auto it = kept.begin(); it != kept.end();) {
    if (!is_large(*it)) {
      ++it;
      continue;
    }
    Report(*pod, it->first,
           fmt::format("{} bytes are more than the {} that are looked at", it->second.size(),
                       trust_.max_annotation_bytes));
    it = kept.erase(it);
  }
  return slim;
}

bool PodPolicy::MayHaveClass(const kube::Pod& pod, api::QosClass qos) const {
  if (trust_.trust_pod_authors) return true;
  const auto it = trust_.class_namespaces.find(api::ToString(qos));
  if (it == trust_.class_namespaces.end()) return true;
  return std::find(it->second.begin(), it->second.end(), pod.metadata.ns) != it->second.end();
}

void PodPolicy::Enforce(const PodBounds& bounds, NodePod& pod) {
  if (trust_.trust_pod_authors) return;
  CheckResourceStatus(bounds, pod);
  CheckCpuBurst(bounds, pod);
  CheckCpuQos(pod);
  CheckMemoryQos(pod);
}

void PodPolicy::CheckResourceStatus(const PodBounds& bounds, NodePod& pod) {
  if (!pod.resource_status || pod.resource_status->cpuset.empty()) return;
  std::string problem;
  if (pod.qos != api::QosClass::kLse && pod.qos != api::QosClass::kLsr) {
    problem = "only LSE and LSR pods have CPUs of their own";
  } else if (!bounds.cpus.empty() && !std::includes(bounds.cpus.begin(), bounds.cpus.end(),
                                                    pod.cpuset.begin(), pod.cpuset.end())) {
    problem = fmt::format("the node has no such CPUs: {}", pod.resource_status->cpuset);
  }
  if (!problem.empty()) RefuseCpus(pod, problem);
}

void PodPolicy::RefuseCpus(NodePod& pod, std::string_view problem) {
  Report(*pod.pod, api::kAnnotationResourceStatus, problem);
  pod.resource_status->cpuset.clear();
  pod.cpuset.clear();
}

void PodPolicy::GrantCpus(const PodBounds& bounds, std::vector<NodePod>& pods) {
  if (trust_.trust_pod_authors) return;
  std::vector<NodePod*> owners;
  for (NodePod& pod : pods) {
    if (pod.is_active && !pod.cpuset.empty()) owners.push_back(&pod);
  }
  std::ranges::sort(owners, {}, [](const NodePod* pod) {
    return std::tuple(pod->pod->metadata.creation_timestamp, std::string_view(pod->uid()));
  });
  absl::flat_hash_map<int32_t, const NodePod*> owner_of;
  for (NodePod* pod : owners) {
    std::string problem;
    for (const int32_t cpu : pod->cpuset) {
      if (std::ranges::binary_search(bounds.kept_cpus, cpu)) {
        problem = fmt::format("CPU {} is reserved, or given to others by the kubelet", cpu);
      } else if (const auto it = owner_of.find(cpu); it != owner_of.end()) {
        problem = fmt::format("CPU {} belongs to pod {}", cpu, NameOf(*it->second->pod));
      }
    }
    if (!problem.empty()) {
      RefuseCpus(*pod, problem);
      continue;
    }
    for (const int32_t cpu : pod->cpuset) owner_of.emplace(cpu, pod);
  }
}

void PodPolicy::CheckCpuBurst(const PodBounds& bounds, NodePod& pod) {
  if (!pod.cpu_burst) return;
  api::CpuBurstConfig& burst = *pod.cpu_burst;
  const api::CpuBurstConfig& most = bounds.cpu_burst;
  std::vector<std::string_view> cut;
  if (most.cpu_burst_percent && Clamp(burst.cpu_burst_percent, 0, *most.cpu_burst_percent)) {
    cut.push_back("cpuBurstPercent");
  }
  if (most.cfs_quota_burst_percent &&
      Clamp(burst.cfs_quota_burst_percent, 0, *most.cfs_quota_burst_percent)) {
    cut.push_back("cfsQuotaBurstPercent");
  }
  if (most.cfs_quota_burst_period_seconds && burst.cfs_quota_burst_period_seconds &&
      IsLonger(*burst.cfs_quota_burst_period_seconds, *most.cfs_quota_burst_period_seconds)) {
    burst.cfs_quota_burst_period_seconds = most.cfs_quota_burst_period_seconds;
    cut.push_back("cfsQuotaBurstPeriodSeconds");
  }
  if (cut.empty()) return;
  Report(*pod.pod, api::kAnnotationCpuBurst,
         fmt::format("{} bounded by the node's strategy", Join(cut, ", ")));
}

void PodPolicy::CheckCpuQos(NodePod& pod) {
  if (!pod.cpu_qos) return;
  const auto& identity = pod.cpu_qos->group_identity;
  if (!identity || (*identity >= -1 && *identity <= 2)) return;
  Report(*pod.pod, api::kAnnotationCpuQos, "groupIdentity is from -1 to 2");
  pod.cpu_qos.reset();
}

void PodPolicy::CheckMemoryQos(NodePod& pod) {
  if (!pod.memory_qos) return;
  std::vector<std::string_view> cut;
  for (const MemoryField& field : kMemoryFields) {
    if (Clamp((*pod.memory_qos).*field.value, field.least, field.most)) cut.push_back(field.name);
  }
  if (cut.empty()) return;
  Report(*pod.pod, api::kAnnotationMemoryQos, fmt::format("{} out of range", Join(cut, ", ")));
}

}  // namespace koord::koordlet
