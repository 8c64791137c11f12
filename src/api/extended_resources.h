#pragma once
#include <string_view>

#include "api/priority.h"
#include "kube/objects/pod.h"
#include "kube/objects/resource_list.h"

// Resources that Koordinator adds to nodes, and how pods that name others come to ask for them.
namespace koord::api {

// Milli-cores and bytes that production pods leave unused.
inline constexpr std::string_view kBatchCpu = "kubernetes.io/batch-cpu";
inline constexpr std::string_view kBatchMemory = "kubernetes.io/batch-memory";
inline constexpr std::string_view kMidCpu = "kubernetes.io/mid-cpu";
inline constexpr std::string_view kMidMemory = "kubernetes.io/mid-memory";

inline constexpr std::string_view kGpu = "koordinator.sh/gpu";               // percent, 100 a card
inline constexpr std::string_view kGpuShared = "koordinator.sh/gpu.shared";  // cards to spread over
inline constexpr std::string_view kGpuCore = "koordinator.sh/gpu-core";      // percent, 100 a card
inline constexpr std::string_view kGpuMemory = "koordinator.sh/gpu-memory";  // bytes
inline constexpr std::string_view kGpuMemoryRatio =
    "koordinator.sh/gpu-memory-ratio";                            // percent, 100 a card
inline constexpr std::string_view kRdma = "koordinator.sh/rdma";  // percent, 100 a device
inline constexpr std::string_view kFpga = "koordinator.sh/fpga";  // percent, 100 a device

// Whole cards, as the vendors' plugins report them.
inline constexpr std::string_view kNvidiaGpu = "nvidia.com/gpu";
inline constexpr std::string_view kDcuGpu = "dcu.com/gpu";
inline constexpr std::string_view kAmdGpu = "amd.com/gpu";
inline constexpr std::string_view kHuaweiNpuCore = "huawei.com/npu-core";
inline constexpr std::string_view kHuaweiNpuCpu = "huawei.com/npu-cpu";
inline constexpr std::string_view kHuaweiNpuDvpp = "huawei.com/npu-dvpp";

// What pods of a band ask for instead of cpu and memory; other names, and all names for prod and
// none, stay. Empty for free, which has no resources of its own.
std::string_view TranslateResource(PriorityBand band, std::string_view resource);
// Moves cpu and memory to their translated names, over what stands there. CPU becomes milli-cores.
void TranslateResources(PriorityBand band, kube::ResourceList& resources);

// Names that earlier releases used. An amount moves to the new name only where that is absent.
void RenameDeprecatedBatchResources(kube::ResourceList& resources);
void RenameDeprecatedDeviceResources(kube::ResourceList& resources);
// Whether renaming would change anything: cheap, for objects that are shared and rarely old.
bool HasDeprecatedBatchResources(const kube::ResourceList& resources);
bool HasDeprecatedDeviceResources(const kube::ResourceList& resources);
// Both, in all that a pod asks for.
void RenameDeprecatedResources(kube::PodSpec& pod);
bool HasDeprecatedResources(const kube::PodSpec& pod);

}  // namespace koord::api
