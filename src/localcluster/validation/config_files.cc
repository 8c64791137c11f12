#include "localcluster/validation/config_files.h"

#include <fmt/format.h>

#include <map>

#include "base/strings.h"
#include "manager/config/slo_config.h"
#include "scheduler/config/load_configuration.h"

namespace koord::validation {
namespace {

using kube::Json;
namespace json = kube::json;

// "FILE:12: path: message", as programs say it.
Finding ReadLocated(std::string_view line, const Manifest& manifest, Severity severity) {
  Finding finding{severity, manifest.file(), 0, "", ""};
  if (line.starts_with(manifest.file())) line.remove_prefix(manifest.file().size());
  if (line.starts_with(':')) line.remove_prefix(1);
  if (const size_t colon = line.find(':'); colon != std::string_view::npos) {
    if (const auto number = ParseInt(line.substr(0, colon))) {
      finding.line = static_cast<int>(*number);
      line.remove_prefix(colon + 1);
    }
  }
  line = Trim(line);
  const size_t colon = line.find(": ");
  if (colon != std::string_view::npos &&
      line.substr(0, colon).find(' ') == std::string_view::npos) {
    finding.path = line.substr(0, colon);
    line.remove_prefix(colon + 2);
  }
  finding.message = line;
  return finding;
}

// The arguments of a plugin in any profile, and where they stand.
struct PluginArgs {
  const Manifest* manifest;
  std::string path;
  const Json* args;

  std::optional<double> Number(std::string_view member) const {
    const Json* value = kube::Find(*args, {member});
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return value->to_number<double>();
  }
  std::optional<double> Threshold(std::string_view member, std::string_view resource) const {
    const Json* value = kube::Find(*args, {member, resource});
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return value->to_number<double>();
  }
};

std::vector<PluginArgs> ArgsOf(const std::vector<Manifest>& manifests, std::string_view kind,
                               std::string_view plugin) {
  std::vector<PluginArgs> found;
  for (const Manifest& manifest : manifests) {
    if (manifest.kind() != kind) continue;
    const json::array* profiles = kube::FindArray(manifest.value(), {"profiles"});
    for (size_t i = 0; profiles != nullptr && i < profiles->size(); ++i) {
      const json::array* configs = kube::FindArray((*profiles)[i], {"pluginConfig"});
      for (size_t j = 0; configs != nullptr && j < configs->size(); ++j) {
        const Json* args = kube::Find((*configs)[j], {"args"});
        if (args == nullptr || kube::FindString((*configs)[j], {"name"}) != plugin) continue;
        found.push_back({&manifest, fmt::format("profiles[{}].pluginConfig[{}].args", i, j), args});
      }
    }
  }
  return found;
}

// Low, high and the same for production: each pair must be in order.
void CheckLowNodeLoad(const PluginArgs& load, const Json& thresholds, const std::string& path,
                      Findings& findings) {
  struct Order {
    const char* low;
    const char* high;
  };
  constexpr Order kOrders[] = {{"lowThresholds", "highThresholds"},
                               {"prodLowThresholds", "prodHighThresholds"},
                               {"prodHighThresholds", "highThresholds"}};
  for (const Order& order : kOrders) {
    const json::object* lows = kube::FindObject(thresholds, {order.low});
    for (auto it = lows != nullptr ? lows->begin() : nullptr; lows != nullptr && it != lows->end();
         ++it) {
      const std::string resource(it->key());
      const Json* high = kube::Find(thresholds, {order.high, resource});
      if (high == nullptr || !high->is_number() || !it->value().is_number()) continue;
      const double low = it->value().to_number<double>(), top = high->to_number<double>();
      if (low <= top) continue;
      findings.Error(*load.manifest, JoinPath(path, fmt::format("{}.{}", order.low, resource)),
                     "{} % is more than {} ({} %)", low, order.high, top);
    }
  }
}

void CheckSchedulerAgainst(const PluginArgs& load, const std::vector<PluginArgs>& movers,
                           Findings& findings) {
  static const std::map<std::string, double> kDefaults{{"cpu", 65}, {"memory", 95}};
  for (const auto& [resource, usual] : kDefaults) {
    const double places =
        load.Threshold("usageThresholds", resource)
            .value_or(kube::Find(*load.args, {"usageThresholds"}) == nullptr ? usual : 0);
    for (const PluginArgs& mover : movers) {
      const auto moves = mover.Threshold("highThresholds", resource);
      if (!moves || places == 0 || places <= *moves) continue;
      findings.Warning(*load.manifest,
                       JoinPath(load.path, fmt::format("usageThresholds.{}", resource)),
                       "pods are placed on nodes of up to {} %, but moved away from those above "
                       "{} % (LowNodeLoad highThresholds): they come and go",
                       places, *moves);
    }
    const auto production = load.Threshold("prodUsageThresholds", resource);
    if (production && places > 0 && *production > places) {
      findings.Warning(
          *load.manifest, JoinPath(load.path, fmt::format("prodUsageThresholds.{}", resource)),
          "{} % is never reached: usageThresholds closes the node at {} %", *production, places);
    }
  }
}

void CheckAgainstReports(const PluginArgs& args, const SloConfig& config, Findings& findings) {
  const auto& levels = config.levels(manager::kColocationConfig);
  if (levels.empty()) return;
  const double report = levels.front().Number("metricReportIntervalSeconds").value_or(60);
  const double expires = args.Number("nodeMetricExpirationSeconds").value_or(180);
  if (expires > report) return;
  findings.Warning(*args.manifest, JoinPath(args.path, "nodeMetricExpirationSeconds"),
                   "reports count for {} s and come every {} s (colocation-config "
                   "metricReportIntervalSeconds): nodes look as if they never reported",
                   expires, report);
}

}  // namespace

bool IsConfigFile(const Manifest& manifest) {
  return manifest.kind() == "KubeSchedulerConfiguration" ||
         manifest.kind() == "DeschedulerConfiguration";
}

void CheckConfigFile(const Manifest& manifest, const std::string& text, Findings& findings) {
  if (manifest.kind() != "KubeSchedulerConfiguration") return;
  const auto loaded = scheduler::LoadConfiguration(text, manifest.file());
  if (!loaded.ok()) {
    for (const std::string_view line : Split(Message(loaded.status()), '\n')) {
      findings.Add(ReadLocated(line, manifest, Severity::kError), manifest.order());
    }
    return;
  }
  for (const std::string& warning : loaded->warnings) {
    findings.Add(ReadLocated(warning, manifest, Severity::kWarning), manifest.order());
  }
}

void CheckTogether(const std::vector<Manifest>& manifests, const std::vector<SloConfig>& configs,
                   Findings& findings) {
  const auto movers = ArgsOf(manifests, "DeschedulerConfiguration", "LowNodeLoad");
  const auto placers = ArgsOf(manifests, "KubeSchedulerConfiguration", "LoadAwareScheduling");
  for (const PluginArgs& mover : movers) {
    CheckLowNodeLoad(mover, *mover.args, mover.path, findings);
    const json::array* pools = kube::FindArray(*mover.args, {"nodePools"});
    for (size_t i = 0; pools != nullptr && i < pools->size(); ++i) {
      CheckLowNodeLoad(mover, (*pools)[i], fmt::format("{}.nodePools[{}]", mover.path, i),
                       findings);
    }
  }
  for (const PluginArgs& placer : placers) CheckSchedulerAgainst(placer, movers, findings);
  for (const SloConfig& config : configs) {
    for (const PluginArgs& each : movers) CheckAgainstReports(each, config, findings);
    for (const PluginArgs& each : placers) CheckAgainstReports(each, config, findings);
  }
}

}  // namespace koord::validation
