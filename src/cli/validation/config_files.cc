#include "cli/validation/config_files.h"

#include <fmt/format.h>

#include <map>

#include "api/default_strategies.h"
#include "api/unsupported.h"
#include "base/strings.h"
#include "cli/validation/descheduler_configuration.h"
#include "manager/config/slo_config.h"
#include "scheduler/config/expand_plugins.h"
#include "scheduler/config/known_plugins.h"
#include "scheduler/config/load_configuration.h"
#include "scheduler/registry/plugin_registry.h"

namespace koord::validation {
namespace {

using kube::Json;
namespace json = kube::json;

// Where a list of plugins names the one that a message is about.
std::string PlaceOfPlugin(const Json& configuration, const std::string& list,
                          std::string_view message) {
  const Json* point = &configuration;
  for (const std::string_view step : Split(list, '.')) {
    const size_t bracket = step.find('[');
    point = kube::Find(*point, {step.substr(0, bracket)});
    if (point != nullptr && bracket != step.npos) {
      const auto index = ParseInt(step.substr(bracket + 1, step.size() - bracket - 2));
      const json::array* items = point->if_array();
      const bool has_it =
          index && items != nullptr && *index >= 0 && static_cast<size_t>(*index) < items->size();
      point = has_it ? &(*items)[static_cast<size_t>(*index)] : nullptr;
    }
    if (point == nullptr) return list;
  }
  const json::array* enabled = kube::FindArray(*point, {"enabled"});
  for (size_t i = 0; enabled != nullptr && i < enabled->size(); ++i) {
    const std::string_view name = kube::FindString((*enabled)[i], {"name"});
    const bool is_named = message.find(Quote(name, 64)) != message.npos ||
                          message.starts_with(fmt::format("plugin {} ", name));
    if (is_named) return fmt::format("{}.enabled[{}].name", list, i);
  }
  return list;
}

// "FILE:12: path: message", as programs say it. The line is that of the file, and not of the text
// that the program was given.
void AddLocated(const Manifest& manifest, std::string_view line, Severity severity,
                Findings& findings) {
  if (line.starts_with(manifest.file())) line.remove_prefix(manifest.file().size());
  if (line.starts_with(':')) line.remove_prefix(1);
  if (const size_t colon = line.find(':');
      colon != line.npos && ParseInt(line.substr(0, colon)).has_value()) {
    line.remove_prefix(colon + 1);
  }
  line = Trim(line);
  std::string path;
  if (const size_t colon = line.find(": ");
      colon != line.npos && line.substr(0, colon).find(' ') == line.npos) {
    path = line.substr(0, colon);
    line.remove_prefix(colon + 2);
  }
  if (path.find(".plugins.") != path.npos) path = PlaceOfPlugin(manifest.value(), path, line);
  findings.Add(severity, manifest, path, std::string(line));
}

// A scheduler starts in spite of names that nobody has, and ignores what they are given.
Severity SeverityOf(std::string_view warning) {
  return warning.find(": there is no plugin ") != warning.npos ? Severity::kError
                                                               : Severity::kWarning;
}

// Plugins of Kubernetes or Koordinator that are not built in.
void WarnOfMissingPlugin(const Manifest& manifest, const Json& named, const std::string& path,
                         Findings& findings) {
  const std::string_view name = kube::FindString(named, {"name"});
  if (!scheduler::IsKnownPlugin(name) || scheduler::BuiltInPlugins().contains(name)) return;
  findings.Warning(manifest, path + ".name", "plugin {} has no effect in this version", name);
}

void WarnOfMissingPlugins(const Manifest& manifest, Findings& findings) {
  const json::array* profiles = kube::FindArray(manifest.value(), {"profiles"});
  for (size_t i = 0; profiles != nullptr && i < profiles->size(); ++i) {
    const std::string profile = fmt::format("profiles[{}]", i);
    const auto check = [&](const json::array* list, const std::string& path) {
      for (size_t j = 0; list != nullptr && j < list->size(); ++j) {
        WarnOfMissingPlugin(manifest, (*list)[j], fmt::format("{}.{}[{}]", profile, path, j),
                            findings);
      }
    };
    check(kube::FindArray((*profiles)[i], {"pluginConfig"}), "pluginConfig");
    const json::object* points = kube::FindObject((*profiles)[i], {"plugins"});
    if (points == nullptr) continue;
    for (const auto& [point, set] : *points) {
      check(kube::FindArray(set, {"enabled"}),
            fmt::format("plugins.{}.enabled", std::string_view(point)));
    }
  }
}

void CheckSchedulerConfiguration(const Manifest& manifest, Findings& findings) {
  const auto report = [&](const Status& status) {
    for (const std::string_view line : Split(Message(status), '\n')) {
      AddLocated(manifest, line, Severity::kError, findings);
    }
  };
  const auto loaded =
      scheduler::LoadConfiguration(kube::Serialize(manifest.value()), manifest.file());
  if (!loaded.ok()) return report(loaded.status());
  for (const std::string& warning : loaded->warnings) {
    AddLocated(manifest, warning, SeverityOf(warning), findings);
  }
  WarnOfMissingPlugins(manifest, findings);
  const auto expanded =
      scheduler::ExpandPlugins(loaded->configuration, scheduler::BuiltInPlugins());
  if (!expanded.ok()) report(expanded.status());
}

void CheckDescheduler(const Manifest& manifest, Findings& findings) {
  if (const auto sentence = api::UnsupportedKind("descheduler", manifest.kind())) {
    findings.Warning(manifest, "kind", "{}", *sentence);
  }
  auto document = kube::ConfigDocument::Parse(kube::Serialize(manifest.value()), "");
  if (!document.ok()) return findings.Error(manifest, "", "{}", Message(document.status()));
  CheckDeschedulerConfiguration(*document);
  for (const kube::ConfigDocument::Problem& each : document->problems()) {
    findings.Add(each.is_error ? Severity::kError : Severity::kWarning, manifest, each.path,
                 each.message);
  }
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
  const double report = levels.front()
                            .Number("metricReportIntervalSeconds")
                            .value_or(api::kDefaultMetricInterval / 1s);
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

void CheckConfigFile(const Manifest& manifest, Findings& findings) {
  if (manifest.kind() == "KubeSchedulerConfiguration") {
    CheckSchedulerConfiguration(manifest, findings);
  } else {
    CheckDescheduler(manifest, findings);
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
