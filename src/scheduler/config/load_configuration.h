#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "scheduler/config/scheduler_configuration.h"

namespace koord::scheduler {

struct LoadedConfiguration {
  SchedulerConfiguration configuration;
  std::vector<std::string> warnings;
};

// Reads a KubeSchedulerConfiguration (v1, or an older spelling of it), fills in the defaults,
// merges each profile's plugins with the default ones and checks everything that can be checked
// without the plugins themselves. The error lists all mistakes, one a line, each with file, line,
// field, value and what is allowed. `file` is only for messages.
StatusOr<LoadedConfiguration> LoadConfiguration(std::string_view text, std::string_view file);

// What a scheduler without a file runs with.
SchedulerConfiguration DefaultConfiguration();

// The whole configuration, for --write-config-to and /configz. Reads back as the same.
kube::Json ToJson(const SchedulerConfiguration& configuration);
std::string ToYaml(const SchedulerConfiguration& configuration);

}  // namespace koord::scheduler
