#include "component/feature_gates.h"

#include <fmt/format.h>

#include <vector>

#include "base/strings.h"
#include "base/suggest.h"

namespace koord::component {
namespace {

constexpr std::string_view kAllAlpha = "AllAlpha";
constexpr std::string_view kAllBeta = "AllBeta";

std::string_view NameOf(FeatureGates::Stage stage) {
  switch (stage) {
    case FeatureGates::Stage::kAlpha:
      return "ALPHA";
    case FeatureGates::Stage::kBeta:
      return "BETA";
    case FeatureGates::Stage::kStable:
      return "";
    case FeatureGates::Stage::kDeprecated:
      break;
  }
  return "DEPRECATED";
}

}  // namespace

FeatureGates::FeatureGates() {
  Add(kAllAlpha, false, Stage::kAlpha);
  Add(kAllBeta, false, Stage::kBeta);
}

void FeatureGates::Add(std::string_view name, bool enabled, Stage stage, bool locked) {
  gates_.insert_or_assign(std::string(name), Gate{stage, enabled, enabled, locked});
}

Status FeatureGates::Set(std::string_view text) {
  std::map<std::string, bool> values;
  for (const std::string_view raw : Split(text, ',')) {
    const std::string_view item = Trim(raw);
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    const std::string name(Trim(item.substr(0, equals)));
    if (equals == item.npos) return InvalidArgument("missing bool value for {}", name);
    const std::string_view value = Trim(item.substr(equals + 1));
    const auto on = ParseBool(value);
    if (!on.ok()) {
      return InvalidArgument("invalid value of {}={}: {}", name, value, Message(on.status()));
    }
    values[name] = *on;
  }
  return Set(values);
}

Status FeatureGates::Set(const std::map<std::string, bool>& values) {
  for (const auto& [name, on] : values) {
    const auto it = gates_.find(name);
    if (it == gates_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, gate] : gates_) names.push_back(known);
      const auto meant = Suggest(name, names);
      return InvalidArgument("unrecognized feature gate: {}{}", name,
                             meant ? "; did you mean " + *meant + "?" : std::string());
    }
    if (it->second.locked && it->second.initial != on) {
      return InvalidArgument("cannot set feature gate {} to {}, feature is locked to {}", name, on,
                             it->second.initial);
    }
  }
  for (const auto& [name, on] : values) {
    Gate& gate = gates_.find(name)->second;
    gate.enabled = on;
    gate.set = true;
  }
  for (auto& [name, gate] : gates_) {
    if (gate.set || gate.locked) continue;
    if (gate.stage == Stage::kAlpha) gate.enabled = gate.initial || Enabled(kAllAlpha);
    if (gate.stage == Stage::kBeta && gates_.find(kAllBeta)->second.set) {
      gate.enabled = Enabled(kAllBeta);
    }
  }
  return absl::OkStatus();
}

bool FeatureGates::Enabled(std::string_view name) const {
  const auto it = gates_.find(name);
  return it != gates_.end() && it->second.enabled;
}

void FeatureGates::AddFlag(Flags::Group& group) {
  std::string help = "Features to switch on or off: Name=true,Other=false. Known are:";
  for (const auto& [name, gate] : gates_) {
    help += fmt::format(" {}={}", name, gate.initial);
  }
  group.Custom("--feature-gates", "map", "", help,
               [this](std::string_view text) { return Set(text); });
}

void FeatureGates::AddMetrics(metrics::Registry& registry) const {
  auto& family = registry.AddGauges(
      "kubernetes_feature_enabled",
      "This metric records the data about the stage and enablement of a k8s feature.",
      {"name", "stage"});
  for (const auto& [name, gate] : gates_) {
    family.With({name, NameOf(gate.stage)}).Set(gate.enabled ? 1 : 0);
  }
}

}  // namespace koord::component
