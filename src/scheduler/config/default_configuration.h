#pragma once
#include "scheduler/config/scheduler_configuration.h"

namespace koord::scheduler {

// Fills in what is left to be filled in after reading: everything of which an empty value means the
// default, the default profile, the default plugins of each profile and the arguments of plugins
// that the profile says nothing about.
void SetDefaults(SchedulerConfiguration& configuration);

// A profile's own lists over the default ones. `disabled` removes defaults ("*" all of them), a
// default that is enabled again keeps its place and gets the new weight, everything else follows in
// the order given.
PluginSet MergePlugins(const PluginSet& defaults, const PluginSet& custom);

}  // namespace koord::scheduler
