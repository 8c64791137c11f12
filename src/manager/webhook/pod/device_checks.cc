#include "api/extended_resources.h"
#include "manager/webhook/pod/pod_validating.h"

namespace koord::manager::webhook {
namespace {

using kube::ResourceList;

constexpr std::string_view kDeviceRequests = "pod.spec.containers[*].resources.requests";
constexpr std::string_view kNotZero = "the requested GPU must be greater than zero";

void CheckGpu(const kube::Quantity& gpu, FieldErrors& errors) {
  const int64_t percent = gpu.Value();
  if (percent == 0) {
    errors.Invalid(kDeviceRequests, gpu.ToString(), kNotZero);
  } else if (percent > 100 && percent % 100 != 0) {
    errors.Invalid(kDeviceRequests, gpu.ToString(), "the requested GPU must be percentage of 100");
  }
}

void CheckShared(const ResourceList& requests, const kube::Quantity& shared, FieldErrors& errors) {
  if (shared.IsZero()) errors.Invalid(kDeviceRequests, shared.ToString(), kNotZero);
  if (!kube::AmountOf(requests, api::kHuaweiNpuCore).IsZero()) return;
  const bool has_memory = !kube::AmountOf(requests, api::kGpuMemory).IsZero();
  const kube::Quantity ratio = kube::AmountOf(requests, api::kGpuMemoryRatio);
  if (!has_memory && ratio.IsZero()) {
    errors.Forbidden(kDeviceRequests, "GPU memory and GPU memory ratio all is zero");
  } else if (has_memory && !ratio.IsZero()) {
    errors.Forbidden(kDeviceRequests, "declare GPU memory and GPU memory ratio at same time");
  }
  if (shared.IsZero()) return;
  const kube::Quantity core = kube::AmountOf(requests, api::kGpuCore);
  if (core.Value() % shared.Value() != 0) {
    errors.Invalid(kDeviceRequests, core.ToString(),
                   "the requested gpuCore must multiple of shared");
  }
  if (ratio.Value() % shared.Value() != 0) {
    errors.Invalid(kDeviceRequests, ratio.ToString(),
                   "the requested gpuMemoryRatio must multiple of shared");
  }
}

void CheckContainer(const ResourceList& requests, FieldErrors& errors) {
  const auto gpu = requests.find(api::kGpu);
  const auto shared = requests.find(api::kGpuShared);
  if (gpu != requests.end() && shared != requests.end()) {
    errors.Forbidden(kDeviceRequests, "Forbidden declare GPU and GPU share at same time");
  } else if (gpu != requests.end()) {
    CheckGpu(gpu->second, errors);
  } else if (shared != requests.end()) {
    CheckShared(requests, shared->second, errors);
  }
}

}  // namespace

Status CheckDevices(const kube::Pod& pod) {
  FieldErrors errors;
  for (const kube::Container& container : pod.spec.containers) {
    CheckContainer(container.resources.requests, errors);
  }
  return errors.empty() ? absl::OkStatus() : absl::InvalidArgumentError(errors.ToString());
}

}  // namespace koord::manager::webhook
