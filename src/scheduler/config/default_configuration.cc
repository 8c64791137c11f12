#include "scheduler/config/default_configuration.h"

#include <algorithm>
#include <set>

#include "scheduler/config/known_plugins.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kAll = "*";

template <class T>
void SetIfEmpty(T& value, const T& otherwise) {
  if (value == T{}) value = otherwise;
}

void SetDefaults(LeaderElectionSettings& settings) {
  SetIfEmpty<Duration>(settings.lease_duration, 15s);
  SetIfEmpty<Duration>(settings.renew_deadline, 10s);
  SetIfEmpty<Duration>(settings.retry_period, 2s);
  SetIfEmpty<std::string>(settings.resource_lock, "leases");
  SetIfEmpty<std::string>(settings.resource_name, "kube-scheduler");
  SetIfEmpty<std::string>(settings.resource_namespace, "kube-system");
}

void SetDefaults(ClientConnection& connection) {
  SetIfEmpty<std::string>(connection.content_type, "application/vnd.kubernetes.protobuf");
  SetIfEmpty(connection.qps, 50.0);
  SetIfEmpty(connection.burst, 100);
}

// Every plugin that a profile runs, by name.
std::set<std::string> EnabledNames(const Plugins& plugins) {
  std::set<std::string> names;
  const auto add = [&](const PluginSet& set) {
    for (const PluginRef& plugin : set.enabled) names.insert(plugin.name);
  };
  add(plugins.multi_point);
  for (const PluginSet& point : plugins.points) add(point);
  return names;
}

void AddMissingArgs(Profile& profile) {
  for (const std::string& name : EnabledNames(profile.plugins)) {
    const bool present = std::ranges::any_of(
        profile.plugin_config, [&](const PluginConfig& config) { return config.name == name; });
    if (present) continue;
    if (std::optional<PluginArgs> args = DefaultArgsOf(name)) {
      profile.plugin_config.push_back({name, *std::move(args)});
    }
  }
}

void SetDefaults(Profile& profile) {
  PluginSet defaults;
  defaults.enabled = DefaultMultiPoint();
  profile.plugins.multi_point = MergePlugins(defaults, profile.plugins.multi_point);
  PluginSet& pre_bind = profile.plugins.At(ExtensionPoint::kPreBind);
  if (!pre_bind.Enables(kDefaultPreBind) && !pre_bind.Disables(kDefaultPreBind) &&
      !pre_bind.Disables(kAll)) {
    pre_bind.enabled.push_back({std::string(kDefaultPreBind)});
  }
  AddMissingArgs(profile);
}

}  // namespace

PluginSet MergePlugins(const PluginSet& defaults, const PluginSet& custom) {
  PluginSet merged;
  merged.disabled = custom.disabled;
  std::set<std::string_view> replaced;
  for (const PluginRef& plugin : defaults.enabled) {
    if (custom.Disables(kAll) || custom.Disables(plugin.name)) continue;
    const auto own = std::ranges::find(custom.enabled, plugin.name, &PluginRef::name);
    if (own == custom.enabled.end()) {
      merged.enabled.push_back(plugin);
    } else {
      merged.enabled.push_back(*own);
      replaced.insert(own->name);
    }
  }
  for (const PluginRef& plugin : custom.enabled) {
    // The first mention took the default's place; a second one is a mistake to be reported.
    if (replaced.erase(plugin.name) == 0) merged.enabled.push_back(plugin);
  }
  return merged;
}

void SetDefaults(SchedulerConfiguration& configuration) {
  configuration.api_version = kConfigApiVersion;
  configuration.kind = kConfigKind;
  SetDefaults(configuration.leader_election);
  SetDefaults(configuration.client_connection);
  if (configuration.profiles.empty()) configuration.profiles.emplace_back();
  if (configuration.profiles.size() == 1) {
    SetIfEmpty<std::string>(configuration.profiles.front().scheduler_name, "default-scheduler");
  }
  for (Profile& profile : configuration.profiles) SetDefaults(profile);
  for (Extender& extender : configuration.extenders) {
    SetIfEmpty<Duration>(extender.http_timeout, 5s);
  }
}

}  // namespace koord::scheduler
