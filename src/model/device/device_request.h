#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/device_annotations.h"
#include "base/status.h"
#include "kube/objects/meta.h"
#include "kube/objects/resource_list.h"
#include "kube/selectors.h"
#include "model/device/device_amounts.h"

namespace koord::model {

// Shares of cards by name, as a vendor sells them: which names a card's kind ("vendor-model") has,
// and what each of them is.
using GpuTemplates =
    std::map<std::string, std::map<std::string, DeviceAmounts, std::less<>>, std::less<>>;

// Of a ConfigMap's data.yaml: kind -> name -> resources.
StatusOr<GpuTemplates> ParseGpuTemplates(std::string_view yaml);

// What a pod asks for of one type of devices.
struct DeviceRequest {
  enum class Count : uint8_t {
    kGiven,  // `count` of them
    kAll,    // as many as the node has of those that match
  };

  DeviceAmounts per_device;
  int64_t count = 1;
  Count counted = Count::kGiven;
  // What it says of which ones.
  std::optional<kube::LabelMatcher> selector;
  std::optional<kube::LabelMatcher> function_selector;  // there: a virtual function is wanted
};

// What a pod asks for of all of them: read once, tried on many nodes.
struct DeviceRequests {
  std::array<std::optional<DeviceRequest>, kDeviceTypes> by_type;
  // Of cards: parts of them, not whole ones.
  bool is_shared = false;
  int required_scope = 0;  // api::TopologyScopeLevel of cards
  std::optional<api::GpuPartitionSpec> partition;
  // Types that are taken together, the leading one first; fewer than two: none are.
  std::vector<DeviceType> joint;
  bool same_pcie = false;  // and they must share their PCIe switches
  // By kind of cards ("vendor-model"): the templates that are exactly what is asked of each card.
  // There: only these will do.
  std::optional<std::map<std::string, std::vector<std::string>, std::less<>>> templates;

  const std::optional<DeviceRequest>& of(DeviceType type) const {
    return by_type[static_cast<size_t>(type)];
  }
  bool empty() const;
};

// Resources of the names that mean devices.
bool IsDeviceResource(std::string_view name);

struct DeviceRequestRules {
  // Shares that have one of these come in templates.
  std::vector<DeviceResource> templated;
  const GpuTemplates* templates = nullptr;
};

// `requests` are those of the whole pod. Errors are what the pod is told.
StatusOr<DeviceRequests> DeviceRequestsOf(const kube::ResourceList& requests,
                                          const kube::Annotations& annotations,
                                          const DeviceRequestRules& rules);

}  // namespace koord::model
