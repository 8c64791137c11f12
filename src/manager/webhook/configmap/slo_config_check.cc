#include "manager/webhook/configmap/slo_config_check.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <set>
#include <utility>

#include "api/annotation_codec.h"
#include "base/strings.h"
#include "manager/config/slo_config.h"
#include "manager/config/written_strategies.h"
#include "manager/webhook/configmap/config_error.h"
#include "manager/webhook/configmap/field_problems.h"
#include "manager/webhook/configmap/network_rules.h"

namespace koord::manager::webhook {
namespace {

using kube::Json;
namespace json = kube::json;

// One key of the ConfigMap: how it is read and what its messages call it.
struct Part {
  std::string_view key;
  std::string_view parse_name;  // in "Failed to parse ... config"
  std::string_view config;      // of the paths: "ColocationCfg"
  std::string_view cluster;     // "ClusterStrategy"
  std::string_view nodes;       // "NodeStrategies"
  std::string_view strategy;    // "ResourceThresholdStrategy"
};

constexpr Part kParts[] = {
    {kColocationConfig, "colocation", "ColocationCfg", "ColocationStrategy", "NodeConfigs",
     "ColocationStrategy"},
    {kThresholdConfig, "resourceThreshold", "ResourceThresholdCfg", "ClusterStrategy",
     "NodeStrategies", "ResourceThresholdStrategy"},
    {kResourceQosConfig, "ResourceQOS", "ResourceQOSCfg", "ClusterStrategy", "NodeStrategies",
     "ResourceQOSStrategy"},
    {kSystemConfig, "System", "SystemCfg", "ClusterStrategy", "NodeStrategies", "SystemStrategy"},
    {kCpuBurstConfig, "CpuBurst", "CPUBurstCfg", "ClusterStrategy", "NodeStrategies",
     "CPUBurstStrategy"},
};

using QosDocument = NestedDocument<api::ResourceQosStrategy>;
using SystemDocument = NestedDocument<api::SystemStrategy>;

bool IsEmpty(const std::optional<kube::LabelSelector>& selector) {
  return !selector || (selector->match_labels.empty() && selector->match_expressions.empty());
}

StatusOr<ConfigEntries> EntriesOf(const Part& part, const WrittenStrategies& document) {
  ConfigEntries entries{part.key, {}};
  for (const WrittenStrategies::Entry& each : document.entries) {
    if (IsEmpty(each.selector)) {
      return ConfigError(kConfigParamInvalid,
                         fmt::format("nodeConfigs NodeSelector must not empty error! configType: "
                                     "{},nodeConfig name:{}",
                                     part.key, each.name));
    }
    auto matcher = kube::LabelMatcher::From(*each.selector);
    if (!matcher.ok()) {
      return ConfigError(
          kConfigParamInvalid,
          fmt::format("failed to parse node selector {},configType: {},nodeConfig name:{}, err: {}",
                      api::EncodeAnnotation(*each.selector), part.key, each.name,
                      Message(matcher.status())));
    }
    entries.entries.push_back({each.name, *each.selector, *std::move(matcher)});
  }
  return entries;
}

Status CheckFields(const Part& part, const WrittenStrategies& document) {
  FieldProblems problems;
  const api::StrategyKind kind = *StrategyKindOf(part.key);
  AddFieldProblems(kind, document.cluster, fmt::format("{}.{}", part.config, part.cluster),
                   problems);
  for (size_t i = 0; i < document.entries.size(); ++i) {
    AddFieldProblems(kind, document.entries[i].strategy,
                     fmt::format("{}.{}[{}].{}", part.config, part.nodes, i, part.strategy),
                     problems);
  }
  if (problems.empty()) return absl::OkStatus();
  json::object message;
  for (const auto& [path, text] : problems) message.emplace(path, text);
  return ConfigError(kConfigParamInvalid, std::move(message));
}

// The bandwidth of the nodes that a selector is for: of the entry with the very same selector, or
// of the cluster where there are no entries at all.
kube::Quantity BandwidthFor(const SystemDocument& system, const kube::LabelSelector& selector) {
  if (system.nodes.empty()) return system.cluster.total_network_bandwidth;
  for (const auto& entry : system.nodes) {
    if (entry.node_selector == selector) return entry.strategy.total_network_bandwidth;
  }
  return kube::Quantity();
}

Status CheckNetworks(std::string_view qos_text, const kube::ConfigMap& config) {
  ASSIGN_OR_RETURN(const QosDocument qos, api::DecodeLoose<QosDocument>(qos_text));
  const std::string_view system_text = kube::ValueOf(config.data, kSystemConfig);
  SystemDocument system;
  if (!system_text.empty()) {
    system = api::DecodeLoose<SystemDocument>(system_text).value_or(SystemDocument());
  }
  RETURN_IF_ERROR(
      CheckNetwork(qos.cluster, system.cluster.total_network_bandwidth, NetworkPlace::Cluster()));
  for (size_t i = 0; i < qos.nodes.size(); ++i) {
    RETURN_IF_ERROR(CheckNetwork(qos.nodes[i].strategy,
                                 BandwidthFor(system, *qos.nodes[i].node_selector),
                                 NetworkPlace::Node(i)));
  }
  return absl::OkStatus();
}

Status CheckNames(const ConfigEntries& entries) {
  std::set<std::string_view> names;
  for (const ConfigEntries::Entry& entry : entries.entries) {
    if (entry.name.empty()) {
      return ConfigError(kConfigParamInvalid,
                         fmt::format("nodeConfig Name need! configType:{}", entries.key));
    }
    if (!names.insert(entry.name).second) {
      return ConfigError(
          kConfigParamInvalid,
          fmt::format("nodeConfig Name confilict, configType:{},nodeConfig Name:{}! ", entries.key,
                      entry.name));
    }
  }
  return absl::OkStatus();
}

Json ConflictMessage(std::string_view key, const std::vector<std::string>& strategies) {
  return {{"config", key}, {"strategies", json::array(strategies.begin(), strategies.end())}};
}

// Enough imagined nodes that each value of each requirement is tried; what users write stays far
// below the cap.
std::vector<kube::Labels> ImaginedNodes(const kube::LabelSelector& selector) {
  constexpr size_t kMost = 4096;
  size_t count = 1;
  for (const auto& each : selector.match_expressions) {
    if (!each.values.empty()) count = std::min(kMost, count * each.values.size());
  }
  std::vector<kube::Labels> nodes(count, selector.match_labels);
  for (size_t i = 0; i < count; ++i) {
    for (const auto& each : selector.match_expressions) {
      if (!each.values.empty()) nodes[i][each.key] = each.values[i % each.values.size()];
    }
  }
  return nodes;
}

Status CheckOverlap(const ConfigEntries& entries) {
  for (const ConfigEntries::Entry& entry : entries.entries) {
    for (const kube::Labels& labels : ImaginedNodes(entry.selector)) {
      const auto matching = entries.Matching(labels);
      if (matching.size() > 1) {
        return ConfigError(kNodeStrategiesOverlap, ConflictMessage(entries.key, matching));
      }
    }
  }
  return absl::OkStatus();
}

Status CheckNode(const std::string& node, const kube::Labels& labels,
                 const std::vector<ConfigEntries>& parts) {
  for (const ConfigEntries& part : parts) {
    if (part.entries.size() < 2) continue;
    const auto matching = part.Matching(labels);
    if (matching.size() < 2) continue;
    Json message = ConflictMessage(part.key, matching);
    message.get_object()["exampleNodes"] = json::array{node};
    return ConfigError(kExistNodeConflict, message);
  }
  return absl::OkStatus();
}

StatusOr<ConfigEntries> CheckPart(const Part& part, std::string_view text,
                                  const kube::ConfigMap& config, const SloConfigCheck& options) {
  const auto document = ReadStrategies(part.key, text);
  if (!document.ok()) {
    return ConfigError(
        kParseConfigFail,
        fmt::format("Failed to parse {} config in configmap {}, err: {}", part.parse_name,
                    kube::KeyOf(config.metadata).ToString(), Message(document.status())));
  }
  ASSIGN_OR_RETURN(ConfigEntries entries, EntriesOf(part, *document));
  RETURN_IF_ERROR(CheckFields(part, *document));
  if (part.key == kResourceQosConfig) RETURN_IF_ERROR(CheckNetworks(text, config));
  if (options.check_names) RETURN_IF_ERROR(CheckNames(entries));
  RETURN_IF_ERROR(CheckOverlap(entries));
  return entries;
}

}  // namespace

Status ConfigError(std::string_view reason, const Json& message) {
  return InvalidArgument("___{}___",
                         api::WriteAnnotationJson({{"reason", reason}, {"message", message}}));
}

std::vector<std::string> ConfigEntries::Matching(const kube::Labels& labels) const {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (entry.matcher.Matches(labels)) names.push_back(entry.name);
  }
  return names;
}

Status CheckSloConfig(const kube::ConfigMap& config, const kube::ConfigMap* old,
                      const std::vector<std::shared_ptr<const kube::Node>>& nodes,
                      const SloConfigCheck& options) {
  std::vector<ConfigEntries> changed;
  for (const Part& part : kParts) {
    const std::string_view text = kube::ValueOf(config.data, part.key);
    if (text.empty() || (old != nullptr && kube::ValueOf(old->data, part.key) == text)) continue;
    ASSIGN_OR_RETURN(ConfigEntries entries, CheckPart(part, text, config, options));
    changed.push_back(std::move(entries));
  }
  for (const auto& node : nodes) {
    RETURN_IF_ERROR(CheckNode(node->metadata.name, node->metadata.labels, changed));
  }
  return absl::OkStatus();
}

Status CheckNodeLabels(const std::string& node, const kube::Labels& labels,
                       const kube::ConfigMap& config) {
  std::vector<ConfigEntries> parts;
  for (const Part& part : kParts) {
    const std::string_view text = kube::ValueOf(config.data, part.key);
    if (text.empty()) continue;
    const auto document = ReadStrategies(part.key, text);
    if (!document.ok()) continue;
    auto entries = EntriesOf(part, *document);
    if (entries.ok()) parts.push_back(*std::move(entries));
  }
  return CheckNode(node, labels, parts);
}

}  // namespace koord::manager::webhook
