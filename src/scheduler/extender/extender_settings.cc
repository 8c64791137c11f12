#include "scheduler/extender/extender_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace koord::scheduler {
namespace {

std::vector<std::string_view> NotHonoured(const Extender& extender) {
  std::vector<std::string_view> names;
  const auto look = [&](std::string_view name, bool configured) {
    if (configured) names.push_back(name);
  };
  look("filterVerb", !extender.filter_verb.empty());
  look("prioritizeVerb", !extender.prioritize_verb.empty());
  look("preemptVerb", !extender.preempt_verb.empty());
  look("bindVerb", !extender.bind_verb.empty());
  look("managedResources[].ignoredByScheduler",
       std::ranges::any_of(extender.managed_resources,
                           &ExtenderManagedResource::ignored_by_scheduler));
  return names;
}

}  // namespace

std::vector<std::string> WarningsAbout(const std::vector<Extender>& extenders) {
  std::vector<std::string> warnings;
  for (size_t i = 0; i < extenders.size(); ++i) {
    const std::vector<std::string_view> names = NotHonoured(extenders[i]);
    if (names.empty()) continue;
    warnings.push_back(fmt::format("extenders[{}]: the extender at {} is not asked as {} says", i,
                                   extenders[i].url_prefix, fmt::join(names, ", ")));
  }
  return warnings;
}

}  // namespace koord::scheduler
