#include "scheduler/config/load_configuration.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/strings.h"
#include "kube/config_document.h"
#include "kube/yaml.h"
#include "scheduler/config/check_configuration.h"
#include "scheduler/config/default_configuration.h"
#include "scheduler/config/known_plugins.h"

namespace koord::scheduler {
namespace {

using kube::ConfigDocument;
using kube::ConfigField;
using kube::Json;

// Members of v1beta2 that were about plain-text serving, which flags decide now.
constexpr std::array<std::string_view, 2> kRetiredMembers{"healthzBindAddress",
                                                          "metricsBindAddress"};

// Whether the document is of our kind at all; without that nothing else is worth saying.
Status CheckTypeMeta(ConfigDocument& document) {
  const ConfigField root(document);
  if (!document.value().is_object()) {
    root.Error("expected a {}", kConfigKind);
    return document.status();
  }
  const std::string_view version = kube::FindString(document.value(), {"apiVersion"});
  const std::string_view kinds[] = {kConfigKind};
  root.Member("apiVersion").CheckOneOf(version, kAcceptedApiVersions);
  root.Member("kind").CheckOneOf(kube::FindString(document.value(), {"kind"}), kinds);
  if (version != kConfigApiVersion) {
    root.Member("apiVersion").Warning("{} is read as {}", version, kConfigApiVersion);
  }
  return document.status();
}

Json WithoutRetiredMembers(ConfigDocument& document) {
  Json value = document.value();
  if (kube::FindString(value, {"apiVersion"}) != kConfigApiVersionBeta2) return value;
  for (const std::string_view name : kRetiredMembers) {
    if (value.get_object().erase(name) == 0) continue;
    ConfigField(document).Member(name).Warning("has no effect: --address and --port decide");
  }
  return value;
}

void NoteLines(std::vector<PluginRef>& plugins, const ConfigField& at) {
  for (size_t i = 0; i < plugins.size(); ++i) plugins[i].line = at.Item(i).line();
}

void NoteLines(Plugins& plugins, const ConfigField& at) {
  const auto note = [&](PluginSet& set, std::string_view point) {
    NoteLines(set.enabled, at.Member(point).Member("enabled"));
  };
  for (const ExtensionPoint point : kExtensionPoints) note(plugins.At(point), ToString(point));
  note(plugins.multi_point, "multiPoint");
}

void WarnOfUnusedArgs(const PluginConfig& config, const ConfigField& at) {
  if (IsKnownPlugin(config.name)) return;
  const std::optional<std::string> meant = SuggestPlugin(config.name);
  at.Warning("there is no plugin {}{}", Quote(config.name, 64),
             meant ? fmt::format(" (did you mean {}?)", *meant) : "");
}

void ReadArgs(std::vector<PluginConfig>& configs, const ConfigField& at) {
  std::set<std::string> seen;
  for (size_t i = 0; i < configs.size(); ++i) {
    PluginConfig& config = configs[i];
    const ConfigField place = at.Item(i);
    if (!seen.insert(config.name).second) {
      place.Member("name").Error("repeated config for plugin {}", Quote(config.name, 64));
    }
    WarnOfUnusedArgs(config, place.Member("name"));
    const Json written = std::get<Json>(config.args);
    config.args = ReadPluginArgs(config.name, written, place.Member("args"));
  }
}

}  // namespace

StatusOr<LoadedConfiguration> LoadConfiguration(std::string_view text, std::string_view file) {
  ASSIGN_OR_RETURN(ConfigDocument document, ConfigDocument::Parse(text, file));
  RETURN_IF_ERROR(CheckTypeMeta(document));
  const ConfigField root(document);
  LoadedConfiguration loaded;
  SchedulerConfiguration& configuration = loaded.configuration;
  kube::DecodeStrict(WithoutRetiredMembers(document), configuration, root);
  for (size_t i = 0; i < configuration.profiles.size(); ++i) {
    Profile& profile = configuration.profiles[i];
    const ConfigField place = root.Member("profiles").Item(i);
    NoteLines(profile.plugins, place.Member("plugins"));
    CheckPlugins(profile.plugins, place.Member("plugins"));
    ReadArgs(profile.plugin_config, place.Member("pluginConfig"));
  }
  SetDefaults(configuration);
  CheckConfiguration(configuration, root);
  RETURN_IF_ERROR(document.status());
  configuration.file = file;
  loaded.warnings = document.warnings();
  return loaded;
}

SchedulerConfiguration DefaultConfiguration() {
  SchedulerConfiguration configuration;
  SetDefaults(configuration);
  return configuration;
}

Json ToJson(const SchedulerConfiguration& configuration) { return kube::Encode(configuration); }

std::string ToYaml(const SchedulerConfiguration& configuration) {
  return kube::ToYaml(ToJson(configuration));
}

}  // namespace koord::scheduler
