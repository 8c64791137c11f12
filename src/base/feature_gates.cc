#include "base/feature_gates.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "base/suggest.h"

namespace koord {
namespace {

constexpr std::string_view kAllAlpha = "AllAlpha";
constexpr std::string_view kAllBeta = "AllBeta";
// Kubernetes lets gates be written with the component that they belong to.
constexpr std::string_view kComponent = "kube:";

constexpr FeatureGate kStageGates[] = {
    {kAllAlpha, FeatureStage::kAlpha, false},
    {kAllBeta, FeatureStage::kBeta, false},
};

}  // namespace

std::string_view ToString(FeatureStage stage) {
  switch (stage) {
    case FeatureStage::kAlpha:
      return "ALPHA";
    case FeatureStage::kBeta:
      return "BETA";
    case FeatureStage::kStable:
      return "";
    case FeatureStage::kDeprecated:
      return "DEPRECATED";
  }
  return "";
}

FeatureGates::FeatureGates(Tables tables, Tables without_effect) {
  Gates gates;
  Add(gates, {kStageGates}, true);
  Add(gates, tables, true);
  Add(gates, without_effect, false);
  gates_ = std::make_shared<const Gates>(std::move(gates));
}

void FeatureGates::Add(Gates& gates, Tables tables, bool has_effect) {
  for (const std::span<const FeatureGate>& table : tables) {
    for (const FeatureGate& gate : table) {
      gates.emplace(gate.name, State{gate, gate.enabled, has_effect});
    }
  }
}

Status FeatureGates::Set(std::string_view text) {
  std::vector<Setting> settings;
  std::vector<std::string> errors;
  for (const std::string_view entry : Split(text, ',')) {
    if (Trim(entry).empty()) continue;
    StatusOr<Setting> setting = Parse(Trim(entry));
    if (setting.ok()) {
      settings.push_back(*std::move(setting));
    } else {
      errors.emplace_back(Message(setting.status()));
    }
  }
  if (!errors.empty()) return InvalidArgument("{}", Join(errors, "; "));
  if (settings.empty()) return absl::OkStatus();
  Gates gates = *gates_;
  for (const Setting& setting : settings) Apply(setting, gates);
  gates_ = std::make_shared<const Gates>(std::move(gates));
  return absl::OkStatus();
}

StatusOr<FeatureGates::Setting> FeatureGates::Parse(std::string_view entry) const {
  if (entry.starts_with(kComponent)) entry.remove_prefix(kComponent.size());
  const size_t equals = entry.find('=');
  const std::string_view name = Trim(entry.substr(0, equals));
  const auto found = gates_->find(name);
  if (found == gates_->end()) {
    std::vector<std::string> names;
    for (const auto& [known, state] : *gates_) names.emplace_back(known);
    const std::optional<std::string> meant = Suggest(name, names);
    return InvalidArgument("unrecognized feature gate: {}{}", name,
                           meant ? fmt::format(" (did you mean {}?)", *meant) : "");
  }
  if (equals == std::string_view::npos) {
    return InvalidArgument("feature gate {}: expected {}=true or {}=false", name, name, name);
  }
  const std::string_view text = Trim(entry.substr(equals + 1));
  const std::optional<bool> value = ParseBool(text);
  if (!value) {
    return InvalidArgument("feature gate {}: expected true or false, found {}", name,
                           Quote(text, 64));
  }
  const FeatureGate& gate = found->second.gate;
  if (gate.locked && *value != gate.enabled) {
    return InvalidArgument("cannot set feature gate {} to {}, feature is locked to {}", name,
                           *value, gate.enabled);
  }
  return Setting{std::string(name), *value};
}

void FeatureGates::Apply(const Setting& setting, Gates& gates) {
  State& state = gates.find(setting.name)->second;
  state.gate.enabled = setting.value;
  state.set_by_name = true;
  const FeatureStage stage = state.gate.stage;
  if (stage == FeatureStage::kStable || stage == FeatureStage::kDeprecated) {
    warnings_.push_back(fmt::format(
        "Setting {} feature gate {}={}. It will be removed in a future release.",
        stage == FeatureStage::kStable ? "GA" : "deprecated", setting.name, setting.value));
  }
  if (setting.name != kAllAlpha && setting.name != kAllBeta) return;
  for (auto& [name, other] : gates) {
    const bool follows = other.gate.stage == stage && !other.set_by_name && !other.gate.locked;
    if (follows) other.gate.enabled = setting.value;
  }
}

bool FeatureGates::Enabled(std::string_view name) const {
  const auto found = gates_->find(name);
  if (found == gates_->end()) std::abort();
  return found->second.gate.enabled;
}

std::vector<std::string> FeatureGates::WithoutEffect() const {
  std::vector<std::string> sentences;
  int of_stages = 0;
  for (const auto& [name, state] : *gates_) {
    if (state.has_effect || state.gate.enabled == state.usual) continue;
    if (!state.set_by_name) {
      ++of_stages;
      continue;
    }
    sentences.push_back(
        fmt::format("feature gate {}={} has no effect in this version", name, state.gate.enabled));
  }
  if (of_stages > 0) {
    sentences.push_back(
        fmt::format("gates that {} or {} has changed, and that have no effect in this version: {}",
                    kAllAlpha, kAllBeta, of_stages));
  }
  return sentences;
}

std::vector<FeatureGate> FeatureGates::List() const {
  std::vector<FeatureGate> list;
  for (const auto& [name, state] : *gates_) list.push_back(state.gate);
  return list;
}

}  // namespace koord
