#include "koordlet/hooks/engine/hook_pod.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "api/extended_resources.h"
#include "api/keys.h"
#include "base/strings.h"
#include "koordlet/host/cgroups.h"
#include "kube/objects/pod_resources.h"

namespace koord::koordlet::hooks {
namespace {

using kube::PodQos;

constexpr std::string_view kDockerTypeAnnotation = "io.kubernetes.docker.type";
constexpr std::string_view kKataRuntime = "kata";
constexpr MilliCpu kMaxCpu(1'000'000'000);  // a million CPUs: nothing overflows below it

kube::Annotations UsedOf(const kube::Annotations& all) {
  kube::Annotations used;
  for (const auto& [key, value] : all) {
    if (IsUsedAnnotation(key)) used.emplace(key, value);
  }
  return used;
}

bool NamesBatch(const kube::ResourceList& list) {
  return list.contains(api::kBatchCpu) || list.contains(api::kBatchMemory);
}
bool NamesBatch(const kube::ResourceRequirements& resources) {
  return NamesBatch(resources.requests) || NamesBatch(resources.limits);
}

BatchRequirements BatchOf(const std::vector<kube::Container>& containers) {
  BatchRequirements batch;
  for (const kube::Container& container : containers) {
    if (NamesBatch(container.resources)) batch.emplace(container.name, container.resources);
  }
  return batch;
}

void SetBatch(const kube::PodSpec& spec, HookPod& pod) {
  pod.batch = BatchOf(spec.containers);
  pod.init_batch = BatchOf(spec.init_containers);
}

MilliCpu CpuOf(const kube::ResourceList& list) {
  return MilliCpu(kube::AmountOf(list, kube::kCpu).MilliValue());
}

std::optional<Limit> QuotaOfLimits(const kube::ResourceList& limits) {
  const MilliCpu cpu = CpuOf(limits);
  if (cpu <= MilliCpu()) return std::nullopt;
  return QuotaOf(std::min(cpu, kMaxCpu));
}

OriginalResources OriginalOf(const kube::Container& container) {
  OriginalResources original;
  original.quota = QuotaOfLimits(container.resources.limits);
  const int64_t memory = kube::AmountOf(container.resources.limits, kube::kMemory).Value();
  if (memory > 0) original.memory = Limit::Of(memory);
  original.shares = SharesOf(std::min(CpuOf(container.resources.requests), kMaxCpu));
  return original;
}

std::string_view WithoutSlashes(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

// The systemd driver gives the last part only: "kubepods-burstable-pod1.slice" is three
// directories. What is too long for a name of one is none: spelled out it would be longer by far.
CgroupDir DirOfParent(std::string_view parent) {
  const std::string_view path = WithoutSlashes(parent);
  const bool is_slice = path.ends_with(".slice") && path.size() <= NAME_MAX;
  if (!is_slice || path.find('/') != path.npos) return CgroupDir::At(path);
  const std::string_view name = path.substr(0, path.size() - std::string_view(".slice").size());
  CgroupDir dir;
  for (size_t dash = name.find('-'); dash != name.npos; dash = name.find('-', dash + 1)) {
    dir = dir.Below(fmt::format("{}.slice", name.substr(0, dash)));
  }
  return dir.Below(path);
}

std::optional<kube::ResourceRequirements> BatchOf(const HookPod& pod, std::string_view container) {
  for (const BatchRequirements* batch : {&pod.batch, &pod.init_batch}) {
    if (const auto found = batch->find(container); found != batch->end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Limit> OriginalPodQuota(const kube::PodSpec& spec) {
  const auto is_limited = [](const kube::Container& container) {
    return CpuOf(container.resources.limits) > MilliCpu();
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
  return QuotaOfLimits(kube::PodLimits(pod));
}

HookPod MakeHookPod(const NodePod& node_pod) {
  const kube::ObjectMeta& metadata = node_pod.pod->metadata;
  HookPod pod;
  pod.ns = metadata.ns;
  pod.name = metadata.name;
  pod.uid = metadata.uid;
  pod.labels = metadata.labels;
  pod.annotations = UsedOf(metadata.annotations);
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
  SetBatch(node_pod.pod->spec, pod);
  return pod;
}

HookPod MakeHookPod(SandboxDescription description, PodPolicy& policy, const NodePod* known) {
  auto stated = std::make_shared<kube::Pod>();
  stated->metadata.ns = std::move(description.ns);
  stated->metadata.name = std::move(description.name);
  stated->metadata.uid = std::move(description.uid);
  stated->metadata.labels = std::move(description.labels);
  stated->metadata.annotations = UsedOf(description.annotations);
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
  if (known != nullptr) {
    SetBatch(known->pod->spec, pod);
    if (known->resource_status) pod.resource_status = known->resource_status;  // as it was judged
  }
  return pod;
}

std::vector<HookContainer> MakeHookContainers(const HookPod& pod, const NodePod& node_pod) {
  std::vector<HookContainer> containers;
  if (node_pod.pod->spec.runtime_class_name == kKataRuntime) return containers;
  for (const NodeContainer& from : node_pod.containers) {
    if (from.spec == nullptr || from.dir.is_root()) continue;
    HookContainer& container = containers.emplace_back();
    container.pod = &pod;
    container.name = from.spec->name;
    container.id = from.id;
    container.dir = from.dir;
    container.is_init = from.is_init;
    container.original = OriginalOf(*from.spec);
    container.batch = BatchOf(pod, container.name);
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
