#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/codec.h"
#include "kube/time.h"
#include "scheduler/config/api_version.h"
#include "scheduler/config/extension_point.h"
#include "scheduler/config/plugin_args.h"

// What a scheduler's --config file says. Initial values are the defaults.
namespace koord::scheduler {

// How the API server is reached.
struct ClientConnection {
  std::string kubeconfig;
  std::string accept_content_types;
  std::string content_type;  // application/vnd.kubernetes.protobuf once defaulted
  double qps = 0;            // 50 once defaulted; negative: unlimited
  int32_t burst = 0;         // 100 once defaulted

  static void Fields(auto& self, auto&& field) {
    field("kubeconfig", kube::Always(self.kubeconfig));
    field("acceptContentTypes", kube::Always(self.accept_content_types));
    field("contentType", kube::Always(self.content_type));
    field("qps", kube::Always(self.qps));
    field("burst", kube::Always(self.burst));
  }
  bool operator==(const ClientConnection&) const = default;
};

struct LeaderElectionSettings {
  bool leader_elect = true;
  Duration lease_duration{};       // 15s once defaulted
  Duration renew_deadline{};       // 10s
  Duration retry_period{};         // 2s
  std::string resource_lock;       // leases
  std::string resource_name;       // kube-scheduler
  std::string resource_namespace;  // kube-system

  static void Fields(auto& self, auto&& field) {
    field("leaderElect", kube::Always(self.leader_elect));
    field("leaseDuration", kube::Always(self.lease_duration));
    field("renewDeadline", kube::Always(self.renew_deadline));
    field("retryPeriod", kube::Always(self.retry_period));
    field("resourceLock", kube::Always(self.resource_lock));
    field("resourceName", kube::Always(self.resource_name));
    field("resourceNamespace", kube::Always(self.resource_namespace));
  }
  bool operator==(const LeaderElectionSettings&) const = default;
};

// A plugin where a profile lists it.
struct PluginRef {
  std::string name;
  int32_t weight = 0;  // of its score; 0 counts as 1
  int line = 0;        // in the file; 0 where the file does not name it

  static void Fields(auto& self, auto&& field) {
    field("name", kube::Always(self.name));
    field("weight", kube::Always(self.weight));
  }
  bool operator==(const PluginRef& other) const {
    return name == other.name && weight == other.weight;
  }
};

struct PluginSet {
  std::vector<PluginRef> enabled;
  std::vector<PluginRef> disabled;  // "*" is all

  static void Fields(auto& self, auto&& field) {
    field("enabled", self.enabled);
    field("disabled", self.disabled);
  }
  bool operator==(const PluginSet&) const = default;

  bool Enables(std::string_view name) const;
  bool Disables(std::string_view name) const;  // by name; ask for "*" separately
};

struct Plugins {
  std::array<PluginSet, kExtensionPoints.size()> points;
  PluginSet multi_point;  // at every point that a plugin has something to say at

  PluginSet& At(ExtensionPoint point) { return points[IndexOf(point)]; }
  const PluginSet& At(ExtensionPoint point) const { return points[IndexOf(point)]; }

  static void Fields(auto& self, auto&& field) {
    for (const ExtensionPoint point : kExtensionPoints) {
      field(ToString(point), kube::Always(self.points[IndexOf(point)]));
    }
    field("multiPoint", kube::Always(self.multi_point));
  }
  bool operator==(const Plugins&) const = default;
};

struct PluginConfig {
  std::string name;
  PluginArgs args;

  static void Fields(auto& self, auto&& field) {
    field("name", kube::Always(self.name));
    field("args", kube::Always(self.args));
  }
  bool operator==(const PluginConfig&) const = default;
};

// How the pods that name it as their scheduler are placed.
struct Profile {
  std::string scheduler_name;
  std::optional<int32_t> percentage_of_nodes_to_score;  // wins over the configuration's
  Plugins plugins;                                      // merged with the default ones
  std::vector<PluginConfig> plugin_config;

  static void Fields(auto& self, auto&& field) {
    field("schedulerName", kube::Always(self.scheduler_name));
    field("percentageOfNodesToScore", self.percentage_of_nodes_to_score);
    field("plugins", kube::Always(self.plugins));
    field("pluginConfig", self.plugin_config);
  }
  bool operator==(const Profile&) const = default;
};

// A plugin's arguments, as its factory asks for them: ArgsFor<NodeAffinityArgs>(profile).
template <class Args>
Args ArgsFor(const Profile& profile) {
  for (const PluginConfig& config : profile.plugin_config) {
    if (const Args* args = std::get_if<Args>(&config.args)) return *args;
  }
  return DefaultArgs<Args>();
}
// Of a plugin whose arguments have no type here; null if the profile has none.
const kube::Json* RawArgsFor(const Profile& profile, std::string_view plugin);

struct ExtenderTlsConfig {
  bool insecure = false;
  std::string server_name;
  std::string cert_file;
  std::string key_file;
  std::string ca_file;
  std::string cert_data;  // base64, as are the others
  std::string key_data;
  std::string ca_data;

  static void Fields(auto& self, auto&& field) {
    field("insecure", self.insecure);
    field("serverName", self.server_name);
    field("certFile", self.cert_file);
    field("keyFile", self.key_file);
    field("caFile", self.ca_file);
    field("certData", self.cert_data);
    field("keyData", self.key_data);
    field("caData", self.ca_data);
  }
  bool operator==(const ExtenderTlsConfig&) const = default;
};

struct ExtenderManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;

  static void Fields(auto& self, auto&& field) {
    field("name", kube::Always(self.name));
    field("ignoredByScheduler", self.ignored_by_scheduler);
  }
  bool operator==(const ExtenderManagedResource&) const = default;
};

// A web service that is asked as well.
struct Extender {
  std::string url_prefix;
  std::string filter_verb;
  std::string preempt_verb;
  std::string prioritize_verb;
  int64_t weight = 0;
  std::string bind_verb;
  bool enable_https = false;
  std::optional<ExtenderTlsConfig> tls_config;
  Duration http_timeout{};  // 5s once defaulted
  bool node_cache_capable = false;
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable = false;

  static void Fields(auto& self, auto&& field) {
    field("urlPrefix", kube::Always(self.url_prefix));
    field("filterVerb", self.filter_verb);
    field("preemptVerb", self.preempt_verb);
    field("prioritizeVerb", self.prioritize_verb);
    field("weight", self.weight);
    field("bindVerb", self.bind_verb);
    field("enableHTTPS", self.enable_https);
    field("tlsConfig", self.tls_config);
    field("httpTimeout", kube::Always(self.http_timeout));
    field("nodeCacheCapable", self.node_cache_capable);
    field("managedResources", self.managed_resources);
    field("ignorable", self.ignorable);
  }
  bool operator==(const Extender&) const = default;
};

struct SchedulerConfiguration {
  std::string api_version;
  std::string kind;
  int32_t parallelism = 16;
  LeaderElectionSettings leader_election;
  ClientConnection client_connection;
  bool enable_profiling = true;
  bool enable_contention_profiling = true;
  int32_t percentage_of_nodes_to_score = 0;  // 0: the scheduler decides
  int64_t pod_initial_backoff_seconds = 1;
  int64_t pod_max_backoff_seconds = 10;
  std::vector<Profile> profiles;
  std::vector<Extender> extenders;
  bool delay_cache_until_active = false;
  std::string file;  // where it comes from, for messages

  static void Fields(auto& self, auto&& field) {
    field("apiVersion", self.api_version);
    field("kind", self.kind);
    field("parallelism", kube::Always(self.parallelism));
    field("leaderElection", kube::Always(self.leader_election));
    field("clientConnection", kube::Always(self.client_connection));
    field("enableProfiling", kube::Always(self.enable_profiling));
    field("enableContentionProfiling", kube::Always(self.enable_contention_profiling));
    field("percentageOfNodesToScore", kube::Always(self.percentage_of_nodes_to_score));
    field("podInitialBackoffSeconds", kube::Always(self.pod_initial_backoff_seconds));
    field("podMaxBackoffSeconds", kube::Always(self.pod_max_backoff_seconds));
    field("profiles", self.profiles);
    field("extenders", self.extenders);
    field("delayCacheUntilActive", self.delay_cache_until_active);
  }
};

}  // namespace koord::scheduler

KOORD_DECLARE_CODEC(koord::scheduler::SchedulerConfiguration);
