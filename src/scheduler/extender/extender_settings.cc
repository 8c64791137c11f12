#include "scheduler/extender/extender_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "base/strings.h"

namespace koord::scheduler {
namespace {

std::vector<std::string_view> NotHonoured(const Extender& extender, bool reachable) {
  std::vector<std::string_view> names;
  const auto look = [&](std::string_view name, bool configured) {
    if (configured) names.push_back(name);
  };
  look("filterVerb", !reachable && !extender.filter_verb.empty());
  look("prioritizeVerb", !reachable && !extender.prioritize_verb.empty());
  look("preemptVerb", !reachable && !extender.preempt_verb.empty());
  look("bindVerb", !reachable && !extender.bind_verb.empty());
  return names;
}

}  // namespace

std::vector<std::string> WarningsAbout(const std::vector<Extender>& extenders, bool reachable) {
  std::vector<std::string> warnings;
  for (size_t i = 0; i < extenders.size(); ++i) {
    const std::vector<std::string_view> names = NotHonoured(extenders[i], reachable);
    if (names.empty()) continue;
    warnings.push_back(fmt::format("extenders[{}]: the extender at {} is not asked as {} says", i,
                                   extenders[i].url_prefix, fmt::join(names, ", ")));
  }
  return warnings;
}

kube::ClientConfig ConnectionOf(const Extender& extender) {
  kube::ClientConfig config;
  config.server = extender.url_prefix;
  if (extender.tls_config) {
    const ExtenderTlsConfig& tls = *extender.tls_config;
    const auto decoded = [](const std::string& data) { return Base64Decode(data).value_or(""); };
    config.insecure_skip_tls_verify = tls.insecure;
    config.tls_server_name = tls.server_name;
    config.ca_file = tls.ca_file;
    config.ca_data = decoded(tls.ca_data);
    config.client_certificate_file = tls.cert_file;
    config.client_certificate_data = decoded(tls.cert_data);
    config.client_key_file = tls.key_file;
    config.client_key_data = decoded(tls.key_data);
  }
  if (extender.enable_https && config.ca_file.empty() && config.ca_data.empty()) {
    config.insecure_skip_tls_verify = true;
  }
  return config;
}

void LeaveToExtenders(SchedulerConfiguration& configuration) {
  std::vector<std::string> names;
  for (const Extender& extender : configuration.extenders) {
    for (const ExtenderManagedResource& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) names.push_back(resource.name);
    }
  }
  if (names.empty()) return;
  for (Profile& profile : configuration.profiles) {
    auto args = ArgsFor<NodeResourcesFitArgs>(profile);
    args.ignored_resources.insert(args.ignored_resources.end(), names.begin(), names.end());
    std::erase_if(profile.plugin_config, [](const PluginConfig& config) {
      return config.name == NodeResourcesFitArgs::kPlugin;
    });
    profile.plugin_config.push_back({std::string(NodeResourcesFitArgs::kPlugin), std::move(args)});
  }
}

}  // namespace koord::scheduler
