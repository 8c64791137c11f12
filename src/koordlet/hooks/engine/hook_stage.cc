#include "koordlet/hooks/engine/hook_stage.h"

#include <array>

#include "base/strings.h"

namespace koord::koordlet::hooks {
namespace {

constexpr std::array<HookStage, kHookStageCount> kStages = {
    HookStage::kPreRunPodSandbox,   HookStage::kPostStopPodSandbox,
    HookStage::kPreCreateContainer, HookStage::kPreStartContainer,
    HookStage::kPostStartContainer, HookStage::kPreUpdateContainerResources,
    HookStage::kPostStopContainer,  HookStage::kPreRemoveRunPodSandbox,
};

}  // namespace

std::span<const HookStage> AllHookStages() { return kStages; }

std::string_view ToString(HookStage stage) {
  constexpr std::string_view kNames[kHookStageCount] = {
      "PreRunPodSandbox",  "PostStopPodSandbox",     "PreCreateContainer",
      "PreStartContainer", "PostStartContainer",     "PreUpdateContainerResources",
      "PostStopContainer", "PreRemoveRunPodSandbox",
  };
  return kNames[static_cast<int>(stage)];
}

StatusOr<HookStages> HookStages::Parse(std::string_view text) {
  HookStages stages;
  for (const std::string_view part : Split(text, ',')) {
    const std::string_view name = Trim(part);
    if (name.empty()) continue;
    bool known = false;
    for (const HookStage stage : kStages) {
      if (ToString(stage) != name) continue;
      stages.Add(stage);
      known = true;
    }
    if (!known) return InvalidArgument("unknown runtime hook stage {}", Quote(name));
  }
  return stages;
}

std::string_view ToString(FailurePolicy policy) {
  return policy == FailurePolicy::kFail ? "Fail" : "Ignore";
}

StatusOr<FailurePolicy> ParseFailurePolicy(std::string_view text) {
  if (text == "Ignore") return FailurePolicy::kIgnore;
  if (text == "Fail") return FailurePolicy::kFail;
  return InvalidArgument("failure policy type not supported: {}, expected Ignore or Fail",
                         Quote(text));
}

}  // namespace koord::koordlet::hooks
