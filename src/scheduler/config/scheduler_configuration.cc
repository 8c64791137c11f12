#include "scheduler/config/scheduler_configuration.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

bool Lists(const std::vector<PluginRef>& plugins, std::string_view name) {
  return std::ranges::find(plugins, name, &PluginRef::name) != plugins.end();
}

}  // namespace

bool PluginSet::Enables(std::string_view name) const { return Lists(enabled, name); }

bool PluginSet::Disables(std::string_view name) const { return Lists(disabled, name); }

const kube::Json* RawArgsFor(const Profile& profile, std::string_view plugin) {
  for (const PluginConfig& config : profile.plugin_config) {
    if (config.name == plugin) return std::get_if<kube::Json>(&config.args);
  }
  return nullptr;
}

}  // namespace koord::scheduler

KOORD_DEFINE_CODEC(koord::scheduler::SchedulerConfiguration);
