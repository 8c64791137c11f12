#pragma once
#include <memory>
#include <vector>

#include "koordlet/hooks/engine/hook_plugin.h"

// The hooks that are switched on, a line each.
namespace koord::koordlet {

std::vector<std::unique_ptr<hooks::HookPlugin>> AllHooks(const hooks::HookEnv& env);

}  // namespace koord::koordlet
