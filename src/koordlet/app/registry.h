#pragma once
#include <memory>
#include <vector>

#include "koordlet/hooks/engine/hook_plugin.h"
#include "koordlet/qos/qos_strategy.h"

// All that koordlet is made of, a line each.
namespace koord::koordlet {

std::vector<std::unique_ptr<QosStrategy>> AllStrategies(const QosContext& context);
std::vector<std::unique_ptr<hooks::HookPlugin>> AllHooks(const hooks::HookEnv& env);

}  // namespace koord::koordlet
