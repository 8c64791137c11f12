#pragma once
#include "base/status.h"
#include "scheduler/config/expand_plugins.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/plugin_lineup.h"

namespace koord::scheduler {

// Every plugin that is built in, with the extension points that it serves.
const PluginCatalog& BuiltInPlugins();

// The plugins of a profile, made and lined up as the configuration says.
StatusOr<PluginLineup> MakeLineup(const Profile& profile, const ProfilePlugins& enabled,
                                  int percentage_of_nodes_to_score, PluginContext context);

}  // namespace koord::scheduler
