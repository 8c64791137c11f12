#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/config_document.h"
#include "kube/time.h"
#include "scheduler/config/node_resources_args.h"

// Arguments of the plugins that wait for volumes and devices that pods claim.
namespace koord::scheduler {

struct VolumeBindingArgs {
  static constexpr std::string_view kPlugin = "VolumeBinding";

  int64_t bind_timeout_seconds = 600;
  std::vector<UtilizationShapePoint>
      shape;  // must be empty: scoring by free storage is not offered

  static void Fields(auto& self, auto&& field) {
    field("bindTimeoutSeconds", kube::Always(self.bind_timeout_seconds));
    field("shape", self.shape);
  }
  bool operator==(const VolumeBindingArgs&) const = default;

  void Check(const kube::ConfigField& at) const;
};

struct DynamicResourcesArgs {
  static constexpr std::string_view kPlugin = "DynamicResources";

  std::optional<Duration> filter_timeout;   // 10s once defaulted; 0 = none
  std::optional<Duration> binding_timeout;  // needs an alpha gate in Kubernetes

  static void Fields(auto& self, auto&& field) {
    field("filterTimeout", self.filter_timeout);
    field("bindingTimeout", self.binding_timeout);
  }
  bool operator==(const DynamicResourcesArgs&) const = default;

  void SetDefaults();
  void Check(const kube::ConfigField& at) const;
};

}  // namespace koord::scheduler
