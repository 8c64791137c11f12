#include "koordlet/informers/pod_policy.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "api/keys.h"
#include "api/setting_rules.h"
#include "base/log.h"
#include "koordlet/informers/pod_filter.h"

namespace koord::koordlet {
namespace {

std::string NameOf(const kube::Pod& pod) { return pod.metadata.ns + "/" + pod.metadata.name; }

bool Clamp(std::optional<int64_t>& value, int64_t least, int64_t most) {
  if (!value || (*value >= least && *value <= most)) return false;
  *value = std::clamp(*value, least, most);
  return true;
}

bool Clamp(std::optional<int64_t>& value, const api::SettingRule& rule) {
  return Clamp(value, static_cast<int64_t>(*rule.at_least), static_cast<int64_t>(*rule.at_most));
}

// A period of less than zero never ends.
bool IsLonger(int64_t period, int64_t than) {
  if (than < 0) return false;
  return period < 0 || period > than;
}

struct MemoryField {
  std::string_view name;
  std::optional<int64_t> api::MemoryQos::*value;
};
constexpr MemoryField kMemoryFields[] = {
    {"minLimitPercent", &api::MemoryQos::min_limit_percent},
    {"lowLimitPercent", &api::MemoryQos::low_limit_percent},
    {"throttlingPercent", &api::MemoryQos::throttling_percent},
    {"wmarkRatio", &api::MemoryQos::wmark_ratio},
    {"wmarkScalePermill", &api::MemoryQos::wmark_scale_permill},
    {"wmarkMinAdj", &api::MemoryQos::wmark_min_adj},
    {"priorityEnable", &api::MemoryQos::priority_enable},
    {"priority", &api::MemoryQos::priority},
    {"oomKillGroup", &api::MemoryQos::oom_kill_group},
    {"pageCacheLimitPercent", &api::MemoryQos::page_cache_limit_percent},
};

}  // namespace

bool MayHaveCpus(api::QosClass label, kube::PodQos kube_qos, bool node_binds_all_pods) {
  switch (label) {
    case api::QosClass::kLse:
    case api::QosClass::kLsr:
      return true;
    case api::QosClass::kLs:
      return node_binds_all_pods;
    case api::QosClass::kNone:
      return kube_qos == kube::PodQos::kGuaranteed ||
             (kube_qos == kube::PodQos::kBurstable && node_binds_all_pods);
    default:
      return false;
  }
}

PodPolicy::PodPolicy(TrustPolicy trust, metrics::Registry* registry) : trust_(std::move(trust)) {
  if (registry == nullptr) return;
  refused_ =
      &registry->AddCounters("koordlet_pod_annotation_refused_total",
                             "Wishes of pods that were refused or cut down, by key.", {"key"});
}

void PodPolicy::Report(const kube::Pod& pod, std::string_view key, std::string_view what) {
  if (!known_problems_.IsNew({.object = pod.metadata.uid, .kind = key}, what)) return;
  LOG_WARNING("A pod may not have all that it asks for", {"pod", NameOf(pod)}, {"key", key},
              {"problem", what});
  if (refused_ != nullptr) refused_->With({key}).Increment();
}

std::shared_ptr<const kube::Pod> PodPolicy::Slim(std::shared_ptr<const kube::Pod> pod) {
  const auto is_large = [&](const auto& annotation) {
    return annotation.second.size() > trust_.max_annotation_bytes;
  };
  const kube::Annotations& annotations = pod->metadata.annotations;
  if (std::none_of(annotations.begin(), annotations.end(), is_large)) return pod;
  auto slim = std::make_shared<kube::Pod>(*pod);
  std::erase_if(slim->metadata.annotations, is_large);
  for (const auto& annotation : annotations) {
    const auto& [key, value] = annotation;
    if (!is_large(annotation) || !IsUsedAnnotation(key)) continue;
    Report(*pod, key,
           fmt::format("{} bytes are more than the {} that are looked at", value.size(),
                       trust_.max_annotation_bytes));
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
  if (!MayHaveCpus(pod.raw_qos, pod.kube_qos, bounds.binds_all_pods)) {
    problem = "only LSE and LSR pods have CPUs of their own";
  } else if (!bounds.cpus.empty() && !bounds.cpus.Includes(pod.cpuset)) {
    problem = fmt::format("the node has no such CPUs: {}", pod.resource_status->cpuset);
  }
  if (!problem.empty()) RefuseCpus(pod, problem);
}

void PodPolicy::RefuseCpus(NodePod& pod, std::string_view problem) {
  Report(*pod.pod, api::kAnnotationResourceStatus, problem);
  pod.resource_status->cpuset.clear();
  pod.cpuset.Clear();
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
      if (bounds.kept_cpus.Contains(cpu)) {
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
  auto identity = pod.cpu_qos->group_identity;
  const api::SettingRule& rule = api::QosRuleOf("cpuQOS", "groupIdentity");
  if (!Clamp(identity, rule)) return;
  Report(*pod.pod, api::kAnnotationCpuQos,
         fmt::format("groupIdentity is from {} to {}", *rule.at_least, *rule.at_most));
  pod.cpu_qos.reset();
}

void PodPolicy::CheckMemoryQos(NodePod& pod) {
  if (!pod.memory_qos) return;
  std::vector<std::string_view> cut;
  for (const MemoryField& field : kMemoryFields) {
    const api::SettingRule& rule = api::QosRuleOf("memoryQOS", field.name);
    if (Clamp((*pod.memory_qos).*field.value, rule)) cut.push_back(field.name);
  }
  if (cut.empty()) return;
  Report(*pod.pod, api::kAnnotationMemoryQos, fmt::format("{} out of range", Join(cut, ", ")));
}

}  // namespace koord::koordlet
