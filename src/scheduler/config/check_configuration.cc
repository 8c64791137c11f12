#include "scheduler/config/check_configuration.h"

#include <algorithm>
#include <set>

#include "base/duration.h"
#include "base/strings.h"
#include "kube/names.h"
#include "scheduler/config/known_plugins.h"

namespace koord::scheduler {
namespace {

using kube::ConfigField;

void CheckEnabled(const std::vector<PluginRef>& plugins, const ConfigField& at) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < plugins.size(); ++i) {
    const PluginRef& plugin = plugins[i];
    if (plugin.name.empty()) {
      at.Item(i).Member("name").Error("must not be empty");
    } else if (!seen.insert(plugin.name).second) {
      at.Item(i).Member("name").Error("{} is listed twice", Quote(plugin.name, 64));
    }
    at.Item(i).Member("weight").CheckAtLeast(plugin.weight, 0);
  }
}

void WarnOfUnknown(const std::vector<PluginRef>& disabled, const ConfigField& at) {
  for (size_t i = 0; i < disabled.size(); ++i) {
    const std::string& name = disabled[i].name;
    if (name == "*" || IsKnownPlugin(name)) continue;
    const std::optional<std::string> meant = SuggestPlugin(name);
    at.Item(i).Member("name").Warning("there is no plugin {}{}", Quote(name, 64),
                                      meant ? fmt::format(" (did you mean {}?)", *meant) : "");
  }
}

void CheckLonger(Duration longer, Duration shorter, std::string_view than, const ConfigField& at) {
  if (longer > shorter) return;
  at.Error("{} is too short: must be longer than {} ({})", FormatDuration(longer), than,
           FormatDuration(shorter));
}

void CheckLeaderElection(const LeaderElectionSettings& settings, const ConfigField& at) {
  if (!settings.leader_elect) return;
  CheckLonger(settings.lease_duration, settings.renew_deadline, "renewDeadline",
              at.Member("leaseDuration"));
  CheckLonger(settings.renew_deadline, settings.retry_period, "retryPeriod",
              at.Member("renewDeadline"));
  if (settings.retry_period <= Duration::zero()) {
    at.Member("retryPeriod")
        .Error("{} is not longer than 0s", FormatDuration(settings.retry_period));
  }
  if (settings.resource_lock != "leases") {
    at.Member("resourceLock")
        .Error("{} is not supported: must be leases", Quote(settings.resource_lock, 64));
  }
}

void CheckProfiles(const std::vector<Profile>& profiles, const ConfigField& at) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < profiles.size(); ++i) {
    const Profile& profile = profiles[i];
    const ConfigField name = at.Item(i).Member("schedulerName");
    if (profile.scheduler_name.empty()) {
      name.Error("must not be empty where there are several profiles");
    } else if (!names.insert(profile.scheduler_name).second) {
      name.Error("{} is the name of another profile too", Quote(profile.scheduler_name, 64));
    }
    if (profile.percentage_of_nodes_to_score) {
      at.Item(i)
          .Member("percentageOfNodesToScore")
          .CheckRange(*profile.percentage_of_nodes_to_score, 0, 100);
    }
  }
}

// Names with a domain of their own, which nodes may offer as they like.
bool IsExtendedResource(std::string_view name) {
  return name.find('/') != std::string_view::npos && !name.starts_with("kubernetes.io/") &&
         name.find(".kubernetes.io/") == std::string_view::npos && !name.starts_with("requests.") &&
         kube::CheckQualifiedName(fmt::format("requests.{}", name)).empty();
}

void CheckManagedResources(const std::vector<ExtenderManagedResource>& resources,
                           std::set<std::string>& seen, const ConfigField& at) {
  for (size_t i = 0; i < resources.size(); ++i) {
    const std::string& name = resources[i].name;
    const ConfigField place = at.Item(i).Member("name");
    if (!IsExtendedResource(name)) {
      place.Error("{} is no extended resource like example.com/gpu", Quote(name, 64));
    }
    if (!seen.insert(name).second) place.Error("{} is managed twice", Quote(name, 64));
  }
}

void CheckTls(const ExtenderTlsConfig& tls, const ConfigField& at) {
  const auto check = [&](std::string_view name, const std::string& data) {
    if (!Base64Decode(data)) at.Member(name).Error("is not base64");
  };
  check("certData", tls.cert_data);
  check("keyData", tls.key_data);
  check("caData", tls.ca_data);
  if (tls.insecure && (!tls.ca_file.empty() || !tls.ca_data.empty())) {
    at.Member("insecure").Error("must not be true where a certificate authority is given");
  }
}

void CheckExtenders(const std::vector<Extender>& extenders, const ConfigField& at) {
  std::set<std::string> managed;
  bool binds = false;
  for (size_t i = 0; i < extenders.size(); ++i) {
    const Extender& extender = extenders[i];
    const ConfigField place = at.Item(i);
    if (!extender.prioritize_verb.empty()) place.Member("weight").CheckAtLeast(extender.weight, 1);
    CheckManagedResources(extender.managed_resources, managed, place.Member("managedResources"));
    if (extender.tls_config) CheckTls(*extender.tls_config, place.Member("tlsConfig"));
    if (extender.bind_verb.empty()) continue;
    if (binds) place.Member("bindVerb").Error("only one extender may bind pods");
    binds = true;
  }
}

}  // namespace

void CheckPlugins(const Plugins& plugins, const ConfigField& at) {
  const auto check = [&](const PluginSet& set, std::string_view point) {
    CheckEnabled(set.enabled, at.Member(point).Member("enabled"));
    WarnOfUnknown(set.disabled, at.Member(point).Member("disabled"));
  };
  for (const ExtensionPoint point : kExtensionPoints) check(plugins.At(point), ToString(point));
  check(plugins.multi_point, "multiPoint");
}

void CheckConfiguration(const SchedulerConfiguration& configuration, const ConfigField& at) {
  CheckLeaderElection(configuration.leader_election, at.Member("leaderElection"));
  at.Member("clientConnection")
      .Member("burst")
      .CheckAtLeast(configuration.client_connection.burst, 0);
  at.Member("parallelism").CheckAtLeast(configuration.parallelism, 1);
  at.Member("percentageOfNodesToScore")
      .CheckRange(configuration.percentage_of_nodes_to_score, 0, 100);
  const int64_t initial = configuration.pod_initial_backoff_seconds;
  const int64_t most = configuration.pod_max_backoff_seconds;
  at.Member("podInitialBackoffSeconds").CheckAtLeast(initial, 1);
  if (most < initial) {
    at.Member("podMaxBackoffSeconds")
        .Error("{} is too small: must be at least podInitialBackoffSeconds ({})", most, initial);
  }
  CheckProfiles(configuration.profiles, at.Member("profiles"));
  CheckExtenders(configuration.extenders, at.Member("extenders"));
}

}  // namespace koord::scheduler
