#pragma once
#include <string>
#include <string_view>

#include "koordlet/hooks/engine/hook_plugin.h"

// The kernel's switches for two ways of telling tasks apart, of which only one can be on.
namespace koord::koordlet::hooks {

inline constexpr std::string_view kGroupIdentitySwitch = "sys/kernel/sched_group_identity_enabled";
inline constexpr std::string_view kCoreSchedSwitch = "sys/kernel/sched_core";

// "0" or "1"; empty where the kernel has no such switch.
std::string ReadSwitch(const Host& host, std::string_view path);
// What it was before is remembered for PutBackSwitch.
Status SetSwitch(const HookEnv& env, std::string_view owner, std::string_view path, bool on);
// After the last who has set it: as it was before the first.
void PutBackSwitch(const HookEnv& env, std::string_view owner, std::string_view path);

}  // namespace koord::koordlet::hooks
