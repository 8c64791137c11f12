#pragma once
#include <span>
#include <string>
#include <string_view>

#include "koordlet/hooks/engine/hook_stage.h"

namespace koord::koordlet::hooks {

// The file that tells the runtime proxy where koordlet listens and what it wants to be asked.
std::string HookConfigText(std::string_view endpoint, FailurePolicy policy,
                           std::span<const HookStage> stages);

// Writes <directory>/koordlet.json. The proxy's directory is not ours to make.
Status WriteHookConfig(const std::string& directory, std::string_view text);

}  // namespace koord::koordlet::hooks
