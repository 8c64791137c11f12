#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"

namespace koord::koordlet::hooks {

// Moments in the life of pods and containers, in the order in which the runtime proxy is told of
// them.
enum class HookStage : uint8_t {
  kPreRunPodSandbox,
  kPostStopPodSandbox,
  kPreCreateContainer,
  kPreStartContainer,
  kPostStartContainer,
  kPreUpdateContainerResources,
  kPostStopContainer,
  kPreRemoveRunPodSandbox,  // only NRI has it
};
inline constexpr int kHookStageCount = static_cast<int>(HookStage::kPreRemoveRunPodSandbox) + 1;

std::span<const HookStage> AllHookStages();
std::string_view ToString(HookStage stage);  // "PreRunPodSandbox"

// Some of the stages.
class HookStages {
 public:
  constexpr HookStages() = default;
  constexpr HookStages(std::initializer_list<HookStage> stages) {
    for (const HookStage stage : stages) Add(stage);
  }
  // "PreRunPodSandbox,PostStopContainer"; blanks around names and empty names do not matter.
  static StatusOr<HookStages> Parse(std::string_view text);

  constexpr void Add(HookStage stage) { bits_ |= Bit(stage); }
  constexpr bool Contains(HookStage stage) const { return (bits_ & Bit(stage)) != 0; }
  bool operator==(const HookStages&) const = default;

 private:
  static constexpr uint32_t Bit(HookStage stage) { return 1u << static_cast<int>(stage); }

  uint32_t bits_ = 0;
};

// What becomes of a call when something goes wrong.
enum class FailurePolicy : uint8_t { kIgnore, kFail };
std::string_view ToString(FailurePolicy policy);
StatusOr<FailurePolicy> ParseFailurePolicy(std::string_view text);

}  // namespace koord::koordlet::hooks
