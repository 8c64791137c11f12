#include "koordlet/hooks/nri/nri_hooks.h"

namespace koord::koordlet::hooks {
namespace {

Limit LimitOf(int64_t value) { return value < 0 ? Limit::Unlimited() : Limit::Of(value); }
int64_t NumberOf(Limit limit) { return limit.unlimited() ? -1 : limit.value(); }

// Zero says nothing.
void Overlay(const NriResources& resources, OriginalResources& original) {
  if (resources.shares.value_or(0) != 0) {
    original.shares = static_cast<int64_t>(*resources.shares);
  }
  if (resources.quota.value_or(0) != 0) original.quota = LimitOf(*resources.quota);
  if (resources.memory_limit.value_or(0) != 0) {
    original.memory = LimitOf(*resources.memory_limit);
  }
}

NriContainerResources ResourcesOf(const ContainerResult& result) {
  NriContainerResources resources;
  resources.cpus = result.cpuset;
  if (result.quota) resources.quota = NumberOf(*result.quota);
  if (result.shares) resources.shares = static_cast<uint64_t>(*result.shares);
  if (result.memory) resources.memory_limit = NumberOf(*result.memory);
  resources.rdt_class = result.rdt_class;
  return resources;
}

}  // namespace

HookPod NriHooks::MakePod(const NriPod& pod) {
  return runner_.MakePod({.mode = HookMode::kNri,
                          .ns = pod.ns,
                          .name = pod.name,
                          .uid = pod.uid,
                          .labels = pod.labels,
                          .annotations = pod.annotations,
                          .cgroup_parent = pod.cgroup_parent});
}

Status NriHooks::RunPodSandbox(const NriPod& nri_pod) {
  const HookPod pod = MakePod(nri_pod);
  PodResult result;
  RETURN_IF_ERROR(runner_.RunPod(HookStage::kPreRunPodSandbox, pod, result));
  const Status written = runner_.writer().WritePod(pod, result);
  if (!written.ok()) runner_.env().problems.Report({.object = pod.key(), .kind = "write"}, written);
  return absl::OkStatus();
}

Status NriHooks::RemovePodSandbox(const NriPod& nri_pod) {
  const HookPod pod = MakePod(nri_pod);
  PodResult result;
  return runner_.RunPod(HookStage::kPreRemoveRunPodSandbox, pod, result);
}

Status NriHooks::RunContainer(HookStage stage, const NriPod& nri_pod, const NriContainer& container,
                              const NriResources& wanted, ContainerResult& result) {
  const HookPod pod = MakePod(nri_pod);
  ContainerDescription description{.name = container.name, .id = container.id, .original = {}};
  Overlay(container.resources, description.original);
  Overlay(wanted, description.original);
  return runner_.RunContainer(stage, runner_.MakeContainer(pod, std::move(description)), result);
}

StatusOr<NriAdjustment> NriHooks::CreateContainer(const NriPod& pod,
                                                  const NriContainer& container) {
  ContainerResult result;
  RETURN_IF_ERROR(RunContainer(HookStage::kPreCreateContainer, pod, container, {}, result));
  NriAdjustment adjustment;
  adjustment.resources = ResourcesOf(result);
  adjustment.env.assign(result.envs.begin(), result.envs.end());
  adjustment.mounts = std::move(result.mounts);
  adjustment.devices = std::move(result.devices);
  return adjustment;
}

StatusOr<std::optional<NriUpdate>> NriHooks::UpdateContainer(const NriPod& pod,
                                                             const NriContainer& container,
                                                             const NriResources& wanted) {
  ContainerResult result;
  RETURN_IF_ERROR(
      RunContainer(HookStage::kPreUpdateContainerResources, pod, container, wanted, result));
  NriUpdate update{container.id, ResourcesOf(result)};
  if (update.resources.empty()) return std::optional<NriUpdate>();
  return std::optional(std::move(update));
}

}  // namespace koord::koordlet::hooks
