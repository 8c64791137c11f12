#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/config/scheduler_configuration.h"

namespace koord::scheduler {

inline constexpr std::string_view kPrioritySort = "PrioritySort";
inline constexpr std::string_view kDefaultPreBind = "DefaultPreBind";

// What runs where a profile says nothing, in this order and with these score weights.
const std::vector<PluginRef>& DefaultMultiPoint();

// Whether Kubernetes or Koordinator has a plugin of the name, built here or not.
bool IsKnownPlugin(std::string_view name);
// The plugin that a user most likely meant.
std::optional<std::string> SuggestPlugin(std::string_view name);

}  // namespace koord::scheduler
