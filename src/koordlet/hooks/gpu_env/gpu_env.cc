#include "koordlet/hooks/gpu_env/gpu_env.h"

#include <algorithm>

#include "api/device_annotations.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "koordlet/hooks/engine/device_check.h"

namespace koord::koordlet::hooks {
namespace {

constexpr std::string_view kHamiCore = "HAMi-core";
constexpr std::string_view kLockDirectory = "/tmp/vgpulock";

HookMount BindOnto(std::string_view source, std::string_view destination) {
  return {
      .source = std::string(source), .destination = std::string(destination), .options = {"rbind"}};
}

StatusOr<int64_t> Required(const kube::ResourceList& resources, std::string_view name) {
  const auto found = resources.find(name);
  if (found == resources.end()) return InvalidArgument("device-allocated has no {}", name);
  return found->second.Value();
}

std::string_view DirectoryOf(std::string_view path) { return path.substr(0, path.rfind('/')); }

// What becomes part of a path.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name[0] != '.' &&
         std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

Status GpuEnv::OnContainer(HookStage, const HookContainer& container, ContainerResult& result) {
  const HookPod& pod = *container.pod;
  if (container.is_sandbox || pod.mode == HookMode::kReconciler) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto allocations, api::DeviceAllocationsOf(pod.annotations));
  if (!allocations) return absl::OkStatus();
  const auto gpus = allocations->find(api::kDeviceGpu);
  if (gpus == allocations->end() || gpus->second.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckDevices(env_, api::kDeviceGpu, gpus->second));

  std::string minors;
  for (const api::DeviceAllocation& gpu : gpus->second) {
    if (gpu.minor < 0) return InvalidArgument("device-allocated has GPU minor {}", gpu.minor);
    if (!minors.empty()) minors += ',';
    minors += fmt::format("{}", gpu.minor);
  }
  result.envs["NVIDIA_VISIBLE_DEVICES"] = std::move(minors);
  if (kube::ValueOf(pod.labels, api::kLabelGpuIsolationProvider) != kHamiCore) {
    return absl::OkStatus();
  }
  return AddHami(container, gpus->second.front().resources, result);
}

Status GpuEnv::AddHami(const HookContainer& container, const kube::ResourceList& resources,
                       ContainerResult& result) const {
  ASSIGN_OR_RETURN(const int64_t ratio, Required(resources, api::kGpuMemoryRatio));
  if (ratio >= 100) return absl::OkStatus();  // the whole GPU
  ASSIGN_OR_RETURN(const int64_t memory, Required(resources, api::kGpuMemory));
  const std::string& library = env_.options.hami_library;
  result.envs["CUDA_DEVICE_MEMORY_LIMIT"] = fmt::format("{}", memory);
  if (const auto core = resources.find(api::kGpuCore); core != resources.end()) {
    result.envs["CUDA_DEVICE_SM_LIMIT"] = fmt::format("{}", core->second.Value());
  }
  result.envs["LD_PRELOAD"] = library;
  result.mounts.push_back(BindOnto(library, library));
  result.mounts.push_back(BindOnto(kLockDirectory, kLockDirectory));
  return env_.gates.Enabled("HamiCoreVGPUMonitor") ? AddMonitor(container, result)
                                                   : absl::OkStatus();
}

Status GpuEnv::AddMonitor(const HookContainer& container, ContainerResult& result) const {
  const std::string& uid = container.pod->uid;
  if (!IsPlainName(uid) || !IsPlainName(container.name)) {
    return InvalidArgument("pod uid or container name cannot be part of a path");
  }
  const std::string_view directory = DirectoryOf(env_.options.hami_library);
  const std::string own = fmt::format("{}/containers/{}_{}", directory, uid, container.name);
  if (!env_.recreate_directory) return FailedPrecondition("cannot make {}", own);
  RETURN_IF_ERROR(env_.recreate_directory(own));
  result.envs["CUDA_DEVICE_MEMORY_SHARED_CACHE"] =
      fmt::format("{}/{}_{}.cache", directory, uid, container.name);
  result.mounts.push_back(BindOnto(own, directory));
  return absl::OkStatus();
}

}  // namespace koord::koordlet::hooks
