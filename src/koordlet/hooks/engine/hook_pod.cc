#include "koordlet/hooks/engine/hook_pod.h"

#include <algorithm>
#include <utility>

#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/pod_annotations.h"
#include "base/log.h"
#include "base/strings.h"
#include "koordlet/host/cgroups.h"
#include "kube/objects/pod_resources.h"

namespace koord::koordlet::hooks {
namespace {

using kube::PodQos;

constexpr std::string_view kDockerTypeAnnotation = "io.kubernetes.docker.type";
constexpr std::string_view kKataRuntime = "kata";
constexpr int64_t kMaxMilliCpu = 1'000'000'000;  // a million CPUs: nothing overflows below it

bool IsOurs(std::string_view key) {
  return key.find("koordinator.sh/") != key.npos || key == kDockerTypeAnnotation;
}

kube::Annotations OursOf(const kube::Annotations& all) {
  kube::Annotations ours;
  for (const auto& [key, value] : all) {
    if (IsOurs(key)) ours.emplace(key, value);
  }
  return ours;
}

bool NamesBatch(const kube::ResourceList& list) {
  return list.contains(api::kBatchCpu) || list.contains(api::kBatchMemory);
}
bool NamesBatch(const kube::ResourceRequirements& resources) {
  return NamesBatch(resources.requests) || NamesBatch(resources.limits);
}

void ReadStatedBatch(HookPod& pod) {
  auto stated = api::ExtendedResourceSpecOf(pod.annotations);
  if (!stated.ok()) {
    LOG_WARNING("Ignored malformed extended resources", {"pod", pod.key()},
                {"error", stated.status()});
    return;
  }
  if (*stated) pod.stated_batch = std::move((*stated)->containers);
}

BatchRequirements BatchOfSpec(const kube::PodSpec& spec) {
  BatchRequirements batch;
  for (const kube::Container& container : spec.containers) {
    if (NamesBatch(container.resources)) batch.emplace(container.name, container.resources);
  }
  return batch;
}

std::optional<Limit> QuotaOf(const kube::ResourceList& limits) {
  const int64_t milli = kube::AmountOf(limits, kube::kCpu).MilliValue();
  if (milli <= 0) return std::nullopt;
  return QuotaOfMilli(std::min(milli, kMaxMilliCpu));
}

OriginalResources OriginalOf(const kube::Container& container) {
  OriginalResources original;
  original.quota = QuotaOf(container.resources.limits);
  const int64_t memory = kube::AmountOf(container.resources.limits, kube::kMemory).Value();
  if (memory > 0) original.memory = Limit::Of(memory);
  const int64_t milli = kube::AmountOf(container.resources.requests, kube::kCpu).MilliValue();
  original.shares = SharesOfMilli(std::clamp<int64_t>(milli, 0, kMaxMilliCpu));
  return original;
}

std::string_view WithoutSlashes(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

// The systemd driver gives the last part only: "kubepods-burstable-pod1.slice" is three
// directories.
std::string DirOfParent(std::string_view parent) {
  const std::string_view path = WithoutSlashes(parent);
  if (!path.ends_with(".slice") || path.find('/') != path.npos) return std::string(path);
  const std::string_view name = path.substr(0, path.size() - std::string_view(".slice").size());
  std::string dir;
  for (size_t dash = name.find('-'); dash != name.npos; dash = name.find('-', dash + 1)) {
    dir += std::string(name.substr(0, dash)) + ".slice/";
  }
  return dir += path;
}

std::optional<kube::ResourceRequirements> BatchOf(const HookPod& pod, std::string_view container) {
  const auto found = pod.stated_batch.find(container);
  if (found == pod.stated_batch.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<Limit> OriginalPodQuota(const kube::PodSpec& spec) {
  const auto is_limited = [](const kube::Container& container) {
    return kube::AmountOf(container.resources.limits, kube::kCpu).MilliValue() > 0;
  };
  if (spec.containers.empty() || !std::ranges::all_of(spec.containers, is_limited) ||
      !std::ranges::all_of(spec.init_containers, is_limited)) {
    return std::nullopt;
  }
  kube::Pod pod;
  pod.spec.containers = spec.containers;
  pod.spec.init_containers = spec.init_containers;
  pod.spec.overhead = spec.overhead;
  pod.spec.resources = spec.resources;
  return QuotaOf(kube::PodLimits(pod));
}

HookPod MakeHookPod(const NodePod& node_pod) {
  const kube::ObjectMeta& metadata = node_pod.pod->metadata;
  HookPod pod;
  pod.ns = metadata.ns;
  pod.name = metadata.name;
  pod.uid = metadata.uid;
  pod.labels = metadata.labels;
  pod.annotations = OursOf(metadata.annotations);
  pod.dir = node_pod.dir;
  pod.kube_qos = node_pod.kube_qos;
  pod.label_qos = node_pod.raw_qos;
  pod.object = node_pod.pod;
  // What cannot be read must not look as if nothing had been said.
  if (node_pod.resource_status) {
    pod.resource_status = node_pod.resource_status;
  } else {
    pod.resource_status = api::ResourceStatusOf(pod.annotations);
  }
  pod.original.quota = OriginalPodQuota(node_pod.pod->spec);
  ReadStatedBatch(pod);
  pod.batch = BatchOfSpec(node_pod.pod->spec);
  if (pod.batch.empty()) pod.batch = pod.stated_batch;
  return pod;
}

HookPod MakeHookPod(SandboxDescription description, PodPolicy& policy) {
  auto stated = std::make_shared<kube::Pod>();
  stated->metadata.ns = std::move(description.ns);
  stated->metadata.name = std::move(description.name);
  stated->metadata.uid = std::move(description.uid);
  stated->metadata.labels = std::move(description.labels);
  stated->metadata.annotations = OursOf(description.annotations);
  const std::shared_ptr<const kube::Pod> object = policy.Slim(std::move(stated));
  HookPod pod;
  pod.mode = description.mode;
  pod.ns = object->metadata.ns;
  pod.name = object->metadata.name;
  pod.uid = object->metadata.uid;
  pod.labels = object->metadata.labels;
  pod.annotations = object->metadata.annotations;
  pod.dir = DirOfParent(description.cgroup_parent);
  pod.kube_qos = QosOfDir(pod.dir);
  pod.label_qos = api::RawQosClass(pod.labels);
  if (!policy.MayHaveClass(*object, pod.label_qos)) pod.label_qos = api::QosClass::kNone;
  pod.resource_status = api::ResourceStatusOf(pod.annotations);
  ReadStatedBatch(pod);
  pod.batch = pod.stated_batch;
  return pod;
}

std::vector<HookContainer> MakeHookContainers(const HookPod& pod, const NodePod& node_pod) {
  std::vector<HookContainer> containers;
  if (node_pod.pod->spec.runtime_class_name == kKataRuntime) return containers;
  for (const NodeContainer& from : node_pod.containers) {
    if (from.spec == nullptr || from.dir.empty()) continue;
    HookContainer& container = containers.emplace_back();
    container.pod = &pod;
    container.name = from.spec->name;
    container.id = from.id;
    container.dir = from.dir;
    container.is_init = from.is_init;
    container.original = OriginalOf(*from.spec);
    if (NamesBatch(from.spec->resources)) {
      container.batch = from.spec->resources;
    } else {
      container.batch = BatchOf(pod, container.name);
    }
  }
  return containers;
}

HookContainer MakeHookContainer(const HookPod& pod, ContainerDescription description,
                                const CgroupLayout& layout, std::string_view default_runtime) {
  HookContainer container;
  container.pod = &pod;
  container.name = std::move(description.name);
  container.id = std::move(description.id);
  container.original = description.original;
  container.batch = BatchOf(pod, container.name);
  if (container.id.empty()) return container;
  const std::string_view runtime =
      pod.annotations.contains(kDockerTypeAnnotation) ? "docker" : default_runtime;
  auto dir = layout.ContainerDir(pod.dir, fmt::format("{}://{}", runtime, container.id));
  if (dir.ok()) container.dir = *std::move(dir);
  return container;
}

}  // namespace koord::koordlet::hooks
