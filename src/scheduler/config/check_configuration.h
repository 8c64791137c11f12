#pragma once
#include "kube/config_document.h"
#include "scheduler/config/scheduler_configuration.h"

namespace koord::scheduler {

// Reports what is not allowed in a profile's own lists of plugins: names that are missing or listed
// twice, negative weights. Done before they are merged, while places in the file are known.
void CheckPlugins(const Plugins& plugins, const kube::ConfigField& at);

// Reports all values of a defaulted configuration that are not allowed; the arguments of plugins
// are checked as they are read.
void CheckConfiguration(const SchedulerConfiguration& configuration, const kube::ConfigField& at);

}  // namespace koord::scheduler
