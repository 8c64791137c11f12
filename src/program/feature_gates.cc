#include "program/feature_gates.h"

#include <fmt/format.h>

namespace koord::program {

void AddFeatureGatesFlag(Flags::Group& group, FeatureGates& gates) {
  std::string help = "Features to switch on or off: Name=true,Other=false. Known are:";
  for (const FeatureGate& gate : gates.List()) {
    help += fmt::format(" {}={}", gate.name, gate.enabled);
  }
  group.Custom("--feature-gates", "map", "", help,
               [&gates](std::string_view text) { return gates.Set(text); });
}

void AddFeatureGatesMetrics(metrics::Registry& registry, const FeatureGates& gates) {
  auto& family = registry.AddGauges(
      "kubernetes_feature_enabled",
      "This metric records the data about the stage and enablement of a k8s feature.",
      {"name", "stage"});
  for (const FeatureGate& gate : gates.List()) {
    family.With({gate.name, ToString(gate.stage)}).Set(gate.enabled ? 1 : 0);
  }
}

}  // namespace koord::program
