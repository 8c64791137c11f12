#include <algorithm>
#include <array>
#include <optional>

#include "api/extended_resources.h"
#include "manager/webhook/pod/pod_mutating.h"

namespace koord::manager::webhook {
namespace {

using kube::Json;
using kube::Quantity;
using kube::ResourceList;
using kube::ResourceRequirements;

constexpr std::array kGpuResources{api::kGpu, api::kGpuCore, api::kGpuMemory, api::kGpuMemoryRatio,
                                   api::kGpuShared};

bool AsksForGpu(const Json& resources) {
  for (const char* list : {"requests", "limits"}) {
    const kube::json::object* amounts = kube::FindObject(resources, {list});
    if (amounts == nullptr) continue;
    if (std::ranges::any_of(kGpuResources,
                            [&](std::string_view name) { return amounts->contains(name); })) {
      return true;
    }
  }
  return false;
}

void SetBoth(ResourceRequirements& resources, std::string_view name, const Quantity& amount) {
  resources.requests.insert_or_assign(std::string(name), amount);
  resources.limits.insert_or_assign(std::string(name), amount);
}

// Over how many cards the container's share is spread: whole cards count, anything else is one.
int64_t CardsOf(const ResourceList& requests) {
  const auto whole = [](int64_t percent) {
    return percent > 100 && percent % 100 == 0 ? percent / 100 : 1;
  };
  if (const auto ratio = requests.find(api::kGpuMemoryRatio); ratio != requests.end()) {
    return whole(ratio->second.Value());
  }
  if (const auto core = requests.find(api::kGpuCore); core != requests.end()) {
    return whole(core->second.Value());
  }
  return 1;
}

void SpellOut(ResourceRequirements& resources) {
  const bool is_shared = resources.requests.contains(api::kGpuShared);
  if (const auto gpu = resources.requests.find(api::kGpu); gpu != resources.requests.end()) {
    const Quantity amount = gpu->second;
    SetBoth(resources, api::kGpuCore, amount);
    SetBoth(resources, api::kGpuMemoryRatio, amount);
    resources.requests.erase(std::string(api::kGpu));
    resources.limits.erase(std::string(api::kGpu));
  }
  if (!is_shared) SetBoth(resources, api::kGpuShared, Quantity(CardsOf(resources.requests)));
}

}  // namespace

Status SetDeviceResources(Json& pod) {
  Json* containers = kube::Find(pod, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return absl::OkStatus();
  for (Json& container : containers->get_array()) {
    Json* found = kube::Find(container, {"resources"});
    if (found == nullptr || !found->is_object() || !AsksForGpu(*found)) continue;
    ASSIGN_OR_RETURN(ResourceRequirements resources, kube::Decode<ResourceRequirements>(*found));
    SpellOut(resources);
    found->get_object()["requests"] = kube::Encode(resources.requests);
    found->get_object()["limits"] = kube::Encode(resources.limits);
  }
  return absl::OkStatus();
}

}  // namespace koord::manager::webhook
