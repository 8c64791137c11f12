#include "cli/validation/descheduler_configuration.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/suggest.h"
#include "kube/int_or_string.h"
#include "kube/objects/meta.h"
#include "kube/selectors.h"
#include "kube/time.h"

namespace koord::validation {
namespace {

using kube::ConfigDocument;
using kube::ConfigField;
using kube::Json;

// What members are called and of which type they are. Their values matter to the descheduler only.
using Flag = std::optional<bool>;
using Count = std::optional<int64_t>;
using Text = std::optional<std::string>;
using Texts = std::vector<std::string>;
using Time = std::optional<Duration>;
using Selector = std::optional<kube::LabelSelector>;
using Share = std::optional<kube::IntOrString>;
using Thresholds = std::map<std::string, double, std::less<>>;

struct LeaderElection {
  Flag elect;
  Time lease, renew, retry;
  Text lock, name, ns;
  static void Fields(auto& self, auto&& field) {
    field("leaderElect", self.elect);
    field("leaseDuration", self.lease);
    field("renewDeadline", self.renew);
    field("retryPeriod", self.retry);
    field("resourceLock", self.lock);
    field("resourceName", self.name);
    field("resourceNamespace", self.ns);
  }
};

struct ClientConnection {
  Text kubeconfig, accept, content;
  std::optional<double> qps;
  Count burst;
  static void Fields(auto& self, auto&& field) {
    field("kubeconfig", self.kubeconfig);
    field("acceptContentTypes", self.accept);
    field("contentType", self.content);
    field("qps", self.qps);
    field("burst", self.burst);
  }
};

struct PluginName {
  std::string name;
  static void Fields(auto& self, auto&& field) { field("name", self.name); }
};

struct DeschedulerPluginSet {
  std::vector<PluginName> enabled, disabled;
  static void Fields(auto& self, auto&& field) {
    field("enabled", self.enabled);
    field("disabled", self.disabled);
  }
};

struct DeschedulerPlugins {
  DeschedulerPluginSet deschedule, balance, evict, filter;
  static void Fields(auto& self, auto&& field) {
    field("deschedule", self.deschedule);
    field("balance", self.balance);
    field("evict", self.evict);
    field("filter", self.filter);
  }
};

struct DeschedulerPluginConfig {
  std::string name;
  Json args;
  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("args", self.args);
  }
};

struct DeschedulerProfile {
  std::string name;
  Selector node_selector;
  std::vector<DeschedulerPluginConfig> plugin_config;
  DeschedulerPlugins plugins;
  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("nodeSelector", self.node_selector);
    field("pluginConfig", self.plugin_config);
    field("plugins", self.plugins);
  }
};

struct DeschedulerConfiguration {
  std::string api_version, kind;
  LeaderElection leader_election;
  ClientConnection client_connection;
  Flag profiling, contention_profiling, dry_run;
  Text healthz_address, metrics_address;
  Time interval;
  std::vector<DeschedulerProfile> profiles;
  Selector node_selector;
  Count per_node, per_namespace, total;
  static void Fields(auto& self, auto&& field) {
    field("apiVersion", self.api_version);
    field("kind", self.kind);
    field("leaderElection", self.leader_election);
    field("clientConnection", self.client_connection);
    field("enableProfiling", self.profiling);
    field("enableContentionProfiling", self.contention_profiling);
    field("healthzBindAddress", self.healthz_address);
    field("metricsBindAddress", self.metrics_address);
    field("deschedulingInterval", self.interval);
    field("dryRun", self.dry_run);
    field("profiles", self.profiles);
    field("nodeSelector", self.node_selector);
    field("maxNoOfPodsToEvictPerNode", self.per_node);
    field("maxNoOfPodsToEvictPerNamespace", self.per_namespace);
    field("maxNoOfPodsToEvictTotal", self.total);
  }
};

// --- Arguments of plugins ---

struct Namespaces {
  Texts include, exclude;
  static void Fields(auto& self, auto&& field) {
    field("include", self.include);
    field("exclude", self.exclude);
  }
};

struct PodSelector {
  Text name;
  Selector selector;
  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("selector", self.selector);
  }
};

struct PriorityThreshold {
  Count value;
  Text name;
  static void Fields(auto& self, auto&& field) {
    field("value", self.value);
    field("name", self.name);
  }
};

struct ObjectLimiter {
  Time duration;
  Share max_migrating;
  Count burst;
  static void Fields(auto& self, auto&& field) {
    field("duration", self.duration);
    field("maxMigrating", self.max_migrating);
    field("burst", self.burst);
  }
};

struct Arbitration {
  Flag enabled;
  Time interval;
  static void Fields(auto& self, auto&& field) {
    field("enabled", self.enabled);
    field("interval", self.interval);
  }
};

struct MigrationControllerArgs {
  Text api_version, kind, node_selector, mode, policy;
  Flag dry_run, failed_bare, all_bare, local_storage, critical, ignore_pvc, node_fit, skip_replicas;
  Count reconciles, globally, per_node, per_namespace, burst;
  std::optional<PriorityThreshold> priority_threshold;
  Selector label_selector;
  std::optional<Namespaces> namespaces;
  Texts skip_gates, schedulers;
  Share per_workload, unavailable;
  std::map<std::string, ObjectLimiter, std::less<>> limiters;
  Time ttl;
  Json qps, delete_options;
  std::optional<Arbitration> arbitration;
  static void Fields(auto& self, auto&& field) {
    field("apiVersion", self.api_version);
    field("kind", self.kind);
    field("dryRun", self.dry_run);
    field("maxConcurrentReconciles", self.reconciles);
    field("evictFailedBarePods", self.failed_bare);
    field("evictAllBarePods", self.all_bare);
    field("evictLocalStoragePods", self.local_storage);
    field("evictSystemCriticalPods", self.critical);
    field("ignorePvcPods", self.ignore_pvc);
    field("priorityThreshold", self.priority_threshold);
    field("labelSelector", self.label_selector);
    field("namespaces", self.namespaces);
    field("nodeFit", self.node_fit);
    field("nodeSelector", self.node_selector);
    field("skipEvictionGates", self.skip_gates);
    field("maxMigratingGlobally", self.globally);
    field("maxMigratingPerNode", self.per_node);
    field("maxMigratingPerNamespace", self.per_namespace);
    field("maxMigratingPerWorkload", self.per_workload);
    field("maxUnavailablePerWorkload", self.unavailable);
    field("skipCheckExpectedReplicas", self.skip_replicas);
    field("objectLimiters", self.limiters);
    field("defaultJobMode", self.mode);
    field("defaultJobTTL", self.ttl);
    field("schedulerNames", self.schedulers);
    field("evictQPS", self.qps);
    field("evictBurst", self.burst);
    field("evictionPolicy", self.policy);
    field("defaultDeleteOptions", self.delete_options);
    field("arbitrationArgs", self.arbitration);
  }
};

struct AnomalyCondition {
  Time timeout;
  Count abnormalities, normalities;
  static void Fields(auto& self, auto&& field) {
    field("timeout", self.timeout);
    field("consecutiveAbnormalities", self.abnormalities);
    field("consecutiveNormalities", self.normalities);
  }
};

// What a pool of nodes may say, and all nodes.
struct LoadLimits {
  Selector node_selector;
  Flag deviation;
  Thresholds low, high, prod_low, prod_high;
  std::map<std::string, int64_t, std::less<>> weights;
  std::optional<AnomalyCondition> anomaly;
  static void Fields(auto& self, auto&& field) {
    field("nodeSelector", self.node_selector);
    field("useDeviationThresholds", self.deviation);
    field("lowThresholds", self.low);
    field("highThresholds", self.high);
    field("prodLowThresholds", self.prod_low);
    field("prodHighThresholds", self.prod_high);
    field("resourceWeights", self.weights);
    field("anomalyCondition", self.anomaly);
  }
};

struct NodePool : LoadLimits {
  Text name;
  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    LoadLimits::Fields(self, field);
  }
};

struct LowNodeLoadArgs : LoadLimits {
  Text api_version, kind;
  Flag paused, dry_run, node_fit;
  Count nodes, expiration;
  std::optional<Namespaces> namespaces;
  std::vector<PodSelector> pod_selectors;
  Time detector_cache_timeout;
  std::vector<NodePool> pools;
  static void Fields(auto& self, auto&& field) {
    field("apiVersion", self.api_version);
    field("kind", self.kind);
    field("paused", self.paused);
    field("dryRun", self.dry_run);
    field("numberOfNodes", self.nodes);
    field("nodeMetricExpirationSeconds", self.expiration);
    field("evictableNamespaces", self.namespaces);
    field("podSelectors", self.pod_selectors);
    field("nodeFit", self.node_fit);
    LoadLimits::Fields(self, field);
    field("detectorCacheTimeout", self.detector_cache_timeout);
    field("nodePools", self.pools);
  }
};

struct PriorityLevel {
  Text name;
  Selector node_selector;
  Json keep, reject;
  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("nodeSelector", self.node_selector);
    field("keepThreshold", self.keep);
    field("rejectThreshold", self.reject);
  }
};

// What the newer plugins have in common.
struct BalanceArgs {
  Text api_version, kind;
  Flag paused;
  Selector node_selector;
  std::optional<Namespaces> namespaces;
  std::vector<PodSelector> pod_selectors;
  static void Fields(auto& self, auto&& field) {
    field("apiVersion", self.api_version);
    field("kind", self.kind);
    field("paused", self.paused);
    field("nodeSelector", self.node_selector);
    field("evictableNamespaces", self.namespaces);
    field("podSelectors", self.pod_selectors);
  }
};

struct CustomPriorityArgs : BalanceArgs {
  Flag dry_run, node_fit, auto_cordon;
  std::vector<PriorityLevel> order;
  Text mode;
  static void Fields(auto& self, auto&& field) {
    BalanceArgs::Fields(self, field);
    field("dryRun", self.dry_run);
    field("nodeFit", self.node_fit);
    field("evictionOrder", self.order);
    field("mode", self.mode);
    field("autoCordon", self.auto_cordon);
  }
};

struct FragmentationAwareArgs : BalanceArgs {
  Flag dry_run, node_fit;
  Texts resources;
  std::optional<double> imbalance, improvement;
  static void Fields(auto& self, auto&& field) {
    BalanceArgs::Fields(self, field);
    field("dryRun", self.dry_run);
    field("nodeFit", self.node_fit);
    field("resources", self.resources);
    field("imbalanceThreshold", self.imbalance);
    field("minImprovementThreshold", self.improvement);
  }
};

struct ScaleDownBinPackArgs : BalanceArgs {
  Text strategy;
  Count most;
  Texts resources;
  Thresholds weights;
  static void Fields(auto& self, auto&& field) {
    BalanceArgs::Fields(self, field);
    field("strategy", self.strategy);
    field("maxPodsToEvict", self.most);
    field("resources", self.resources);
    field("resourceWeights", self.weights);
  }
};

template <class Args>
void ReadArgs(const Json& args, const ConfigField& at) {
  Args typed;
  kube::DecodeStrict(args, typed, at);
}

struct KnownPlugin {
  std::string_view name;
  void (*read_args)(const Json& args, const ConfigField& at);  // null: whatever they say
};

constexpr std::array kPlugins{
    KnownPlugin{"MigrationController", &ReadArgs<MigrationControllerArgs>},
    KnownPlugin{"DefaultEvictor", nullptr},
    KnownPlugin{"LowNodeLoad", &ReadArgs<LowNodeLoadArgs>},
    KnownPlugin{"CustomPriority", &ReadArgs<CustomPriorityArgs>},
    KnownPlugin{"FragmentationAware", &ReadArgs<FragmentationAwareArgs>},
    KnownPlugin{"ScaleDownBinPack", &ReadArgs<ScaleDownBinPackArgs>},
    KnownPlugin{"PodLifeTime", nullptr},
    KnownPlugin{"RemoveFailedPods", nullptr},
    KnownPlugin{"RemovePodsHavingTooManyRestarts", nullptr},
    KnownPlugin{"RemovePodsViolatingInterPodAntiAffinity", nullptr},
    KnownPlugin{"RemovePodsViolatingNodeAffinity", nullptr},
    KnownPlugin{"RemovePodsViolatingNodeTaints", nullptr},
    KnownPlugin{"HighNodeUtilization", nullptr},
    KnownPlugin{"LowNodeUtilization", nullptr},
    KnownPlugin{"RemoveDuplicates", nullptr},
    KnownPlugin{"RemovePodsViolatingTopologySpreadConstraint", nullptr},
};

// The plugin of that name; says that there is none.
const KnownPlugin* FindPlugin(const std::string& name, const ConfigField& at) {
  const auto found = std::ranges::find(kPlugins, name, &KnownPlugin::name);
  if (found != kPlugins.end()) return &*found;
  std::vector<std::string> names;
  for (const KnownPlugin& each : kPlugins) names.emplace_back(each.name);
  const auto meant = Suggest(name, names);
  at.Member("name").Error("there is no plugin {}{}", Quote(name, 64),
                          meant ? fmt::format(" (did you mean {}?)", *meant)
                                : fmt::format("; there are {}", Join(names, ", ")));
  return nullptr;
}

void CheckNames(const std::vector<PluginName>& plugins, const ConfigField& at) {
  for (size_t i = 0; i < plugins.size(); ++i) {
    if (plugins[i].name != "*") FindPlugin(plugins[i].name, at.Item(i));
  }
}

void CheckPluginSets(const DeschedulerPlugins& plugins, const ConfigField& at) {
  const std::pair<const char*, const DeschedulerPluginSet*> sets[] = {
      {"deschedule", &plugins.deschedule},
      {"balance", &plugins.balance},
      {"evict", &plugins.evict},
      {"filter", &plugins.filter}};
  for (const auto& [name, set] : sets) {
    CheckNames(set->enabled, at.Member(name).Member("enabled"));
    CheckNames(set->disabled, at.Member(name).Member("disabled"));
  }
}

void CheckSelector(const Selector& selector, const ConfigField& at) {
  if (!selector) return;
  const auto matcher = kube::LabelMatcher::From(*selector);
  if (!matcher.ok()) at.Error("{}", Message(matcher.status()));
}

void CheckDeschedulerProfile(const DeschedulerProfile& profile, const ConfigField& at) {
  CheckSelector(profile.node_selector, at.Member("nodeSelector"));
  CheckPluginSets(profile.plugins, at.Member("plugins"));
  std::set<std::string_view> seen;
  for (size_t i = 0; i < profile.plugin_config.size(); ++i) {
    const DeschedulerPluginConfig& config = profile.plugin_config[i];
    const ConfigField place = at.Member("pluginConfig").Item(i);
    if (!seen.insert(config.name).second) {
      place.Member("name").Error("repeated config for plugin {}", Quote(config.name, 64));
    }
    const KnownPlugin* plugin = FindPlugin(config.name, place);
    if (plugin != nullptr && plugin->read_args != nullptr) {
      plugin->read_args(config.args, place.Member("args"));
    }
  }
}

}  // namespace

void CheckDeschedulerConfiguration(ConfigDocument& document) {
  const ConfigField root(document);
  constexpr std::string_view kVersions[] = {"descheduler/v1alpha2"};
  root.Member("apiVersion")
      .CheckOneOf(kube::FindString(document.value(), {"apiVersion"}), kVersions);
  DeschedulerConfiguration configuration;
  kube::DecodeStrict(document.value(), configuration, root);
  CheckSelector(configuration.node_selector, root.Member("nodeSelector"));
  const auto& profiles = configuration.profiles;
  std::set<std::string_view> names;
  for (size_t i = 0; i < profiles.size(); ++i) {
    const ConfigField at = root.Member("profiles").Item(i);
    if (profiles[i].name.empty() && profiles.size() > 1) {
      at.Member("name").Error("must not be empty where there are several profiles");
    } else if (!names.insert(profiles[i].name).second) {
      at.Member("name").Error("{} is the name of another profile too", Quote(profiles[i].name, 64));
    }
    CheckDeschedulerProfile(profiles[i], at);
  }
}

}  // namespace koord::validation
