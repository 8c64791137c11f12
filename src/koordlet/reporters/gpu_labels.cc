#include "koordlet/reporters/gpu_labels.h"

#include <algorithm>

#include "api/device.h"

namespace koord::koordlet {

std::string ModelLabel(std::string_view model) {
  constexpr std::string_view kVendor = "NVIDIA ";
  if (model.starts_with(kVendor)) model.remove_prefix(kVendor.size());
  std::string label(model);
  std::replace(label.begin(), label.end(), ' ', '-');
  return label;
}

kube::Condition HealthCondition(bool healthy, std::string reason, std::string message) {
  kube::Condition condition;
  condition.type = api::kDeviceConditionHealthy;
  condition.status = healthy ? "True" : "False";
  condition.reason = std::move(reason);
  condition.message = std::move(message);
  return condition;
}

}  // namespace koord::koordlet
