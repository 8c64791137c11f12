#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/default_strategies.h"
#include "manager/config/node_strategies.h"
#include "manager/config/strategies.h"

namespace koord::manager {

// The keys of slo-controller-config.
inline constexpr std::string_view kColocationConfig = "colocation-config";
inline constexpr std::string_view kThresholdConfig = "resource-threshold-config";
inline constexpr std::string_view kResourceQosConfig = "resource-qos-config";
inline constexpr std::string_view kCpuBurstConfig = "cpu-burst-config";
inline constexpr std::string_view kSystemConfig = "system-config";
inline constexpr std::string_view kHostApplicationConfig = "host-application-config";
inline constexpr std::string_view kCpuNormalizationConfig = "cpu-normalization-config";
inline constexpr std::string_view kAmplificationConfig = "resource-amplification-config";

using ConfigData = std::map<std::string, std::string, std::less<>>;
using ColocationConfig = StrategyTable<ColocationStrategy>;

// What is wrong with the ConfigMap, to be told as an event on it.
struct ConfigProblem {
  std::string_view component;  // in whose name
  std::string_view reason;
  std::string message;  // names the key and the path inside of it

  bool operator==(const ConfigProblem&) const = default;
};

// The configuration in force. A part that could not be read is as it was before; those that have
// never been readable are absent, and what depends on them is left alone.
struct SloConfig {
  std::optional<ColocationConfig> colocation;
  // What is in force is not what the ConfigMap says, or there is none.
  bool colocation_in_doubt = false;
  StrategyTable<api::ResourceThresholdStrategy> threshold =
      DefaultTable(api::DefaultThresholdStrategy());
  StrategyTable<api::ResourceQosStrategy> resource_qos;
  StrategyTable<api::CpuBurstStrategy> cpu_burst = DefaultTable(api::DefaultCpuBurstStrategy());
  StrategyTable<api::SystemStrategy> system;
  StrategyTable<HostApplications> host_applications;
  std::optional<StrategyTable<CpuNormalizationStrategy>> cpu_normalization;
  std::optional<StrategyTable<AmplificationStrategy>> amplification;
};

struct ParsedConfig {
  SloConfig config;
  std::vector<ConfigProblem> problems;
};

// What holds where there is no ConfigMap at all: the defaults.
SloConfig DefaultConfig();

// Reads the ConfigMap's data. A key that is absent stands for its defaults; what cannot be read
// stays as it is in `old`.
ParsedConfig ParseConfig(const ConfigData& data, const SloConfig& old);

}  // namespace koord::manager
