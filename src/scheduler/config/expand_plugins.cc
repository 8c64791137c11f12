#include "scheduler/config/expand_plugins.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "kube/config_document.h"
#include "scheduler/config/known_plugins.h"

namespace koord::scheduler {
namespace {

// What is found out while one profile is expanded.
class ProfileExpander {
 public:
  ProfileExpander(const SchedulerConfiguration& configuration, size_t index,
                  const PluginCatalog& catalog, std::vector<std::string>& errors)
      : file_(configuration.file),
        profile_(configuration.profiles[index]),
        path_(fmt::format("profiles[{}].plugins", index)),
        catalog_(catalog),
        errors_(errors) {}

  ProfilePlugins Expand() {
    CheckMultiPoint();
    ProfilePlugins expanded;
    expanded.scheduler_name = profile_.scheduler_name;
    for (const ExtensionPoint point : kExtensionPoints) {
      expanded.points[IndexOf(point)] = ExpandPoint(point);
    }
    // Arguments of a plugin that is not here do as little as the plugin.
    for (const PluginConfig& config : profile_.plugin_config) {
      if (!catalog_.contains(config.name) && IsKnownPlugin(config.name)) NoteMissing(config.name);
    }
    CheckQueueSort(expanded.points[IndexOf(ExtensionPoint::kQueueSort)]);
    if (expanded.At(ExtensionPoint::kBind).empty()) {
      Error(ExtensionPoint::kBind, 0, "no plugin binds pods: at least one must");
    }
    return expanded;
  }

  // Empty if every plugin is there.
  std::string Warning() const {
    if (missing_.empty()) return {};
    return kube::LocatedMessage(
        file_, 0, path_,
        fmt::format("profile {} runs without plugins that are not built in: {}",
                    Quote(profile_.scheduler_name, 64), Join(missing_, ", ")));
  }

 private:
  enum class Presence { kHere, kElsewhere, kMissing, kUnknown };

  void Error(std::string_view point, int line, std::string_view message) {
    errors_.push_back(
        kube::LocatedMessage(file_, line, fmt::format("{}.{}", path_, point), message));
  }
  void Error(ExtensionPoint point, int line, std::string_view message) {
    Error(ToString(point), line, message);
  }

  Presence FindPlugin(const std::string& name, ExtensionPoint point) const {
    const auto found = catalog_.find(name);
    if (found != catalog_.end()) {
      return found->second.contains(point) ? Presence::kHere : Presence::kElsewhere;
    }
    return IsKnownPlugin(name) ? Presence::kMissing : Presence::kUnknown;
  }

  void NoteMissing(const std::string& name) {
    if (std::ranges::find(missing_, name) == missing_.end()) missing_.push_back(name);
  }

  static std::string UnknownPlugin(const std::string& name) {
    const std::optional<std::string> meant = SuggestPlugin(name);
    return fmt::format("plugin {} does not exist{}", Quote(name, 64),
                       meant ? fmt::format(" (did you mean {}?)", *meant) : "");
  }

  void CheckMultiPoint() {
    for (const PluginRef& plugin : profile_.plugins.multi_point.enabled) {
      if (catalog_.contains(plugin.name)) continue;
      if (IsKnownPlugin(plugin.name)) {
        NoteMissing(plugin.name);
      } else {
        Error("multiPoint", plugin.line, UnknownPlugin(plugin.name));
      }
    }
  }

  // Whether a plugin that the point enables can run there; says why not.
  bool Accept(const PluginRef& plugin, ExtensionPoint point) {
    switch (FindPlugin(plugin.name, point)) {
      case Presence::kHere:
        return true;
      case Presence::kElsewhere:
        Error(point, plugin.line,
              fmt::format("plugin {} has nothing to do here: it takes part in {}", plugin.name,
                          PointsOf(plugin.name)));
        return false;
      case Presence::kMissing:
        NoteMissing(plugin.name);
        return false;
      case Presence::kUnknown:
        Error(point, plugin.line, UnknownPlugin(plugin.name));
        return false;
    }
    return false;
  }

  std::string PointsOf(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const ExtensionPoint point : catalog_.find(name)->second) names.push_back(ToString(point));
    return Join(names, ", ");
  }

  std::vector<EnabledPlugin> ExpandPoint(ExtensionPoint point) {
    const PluginSet& own = profile_.plugins.At(point);
    const PluginSet& multi = profile_.plugins.multi_point;
    const bool only_own = own.Disables("*");
    std::vector<EnabledPlugin> first, last;
    for (const PluginRef& plugin : own.enabled) {
      if (!Accept(plugin, point)) continue;
      const bool overrides = only_own || (multi.Enables(plugin.name) && !own.Disables(plugin.name));
      (overrides ? first : last).push_back({plugin.name, WeightOf(plugin)});
    }
    if (only_own) return first;
    for (const PluginRef& plugin : multi.enabled) {
      const bool runs = FindPlugin(plugin.name, point) == Presence::kHere &&
                        !own.Disables(plugin.name) && !own.Enables(plugin.name);
      if (runs) first.push_back({plugin.name, WeightOf(plugin)});
    }
    first.insert(first.end(), last.begin(), last.end());
    return first;
  }

  static int64_t WeightOf(const PluginRef& plugin) { return std::max(plugin.weight, 1); }

  void CheckQueueSort(std::vector<EnabledPlugin>& plugins) {
    constexpr ExtensionPoint kPoint = ExtensionPoint::kQueueSort;
    // Profiles of older releases let a gang plugin order the queue. Where that is not built in,
    // priority does.
    const auto& enabled = profile_.plugins.At(kPoint).enabled;
    const bool left_out = std::ranges::any_of(enabled, [&](const PluginRef& plugin) {
      return FindPlugin(plugin.name, kPoint) == Presence::kMissing;
    });
    if (plugins.empty() && left_out &&
        FindPlugin(std::string(kPrioritySort), kPoint) == Presence::kHere) {
      plugins.push_back({std::string(kPrioritySort)});
    }
    if (plugins.size() == 1) return;
    std::vector<std::string> names;
    for (const EnabledPlugin& plugin : plugins) names.push_back(plugin.name);
    Error(kPoint, enabled.empty() ? 0 : enabled.front().line,
          fmt::format("exactly one plugin must order the queue, found {}",
                      names.empty() ? "none" : Join(names, ", ")));
  }

  const std::string& file_;
  const Profile& profile_;
  const std::string path_;
  const PluginCatalog& catalog_;
  std::vector<std::string>& errors_;
  std::vector<std::string> missing_;
};

// All profiles share one queue.
void CheckSameOrder(const SchedulerConfiguration& configuration,
                    const std::vector<ProfilePlugins>& profiles, std::vector<std::string>& errors) {
  const auto order_of = [](const ProfilePlugins& profile) {
    const auto& plugins = profile.At(ExtensionPoint::kQueueSort);
    return plugins.empty() ? std::string() : plugins.front().name;
  };
  for (size_t i = 1; i < profiles.size(); ++i) {
    const std::string order = order_of(profiles[i]);
    const std::string expected = order_of(profiles[0]);
    if (order == expected || order.empty() || expected.empty()) continue;
    errors.push_back(kube::LocatedMessage(
        configuration.file, 0, fmt::format("profiles[{}].plugins.queueSort", i),
        fmt::format("{} is not {}: must be the same for all profiles", order, expected)));
  }
}

}  // namespace

StatusOr<ExpandedPlugins> ExpandPlugins(const SchedulerConfiguration& configuration,
                                        const PluginCatalog& catalog) {
  ExpandedPlugins expanded;
  std::vector<std::string> errors;
  for (size_t i = 0; i < configuration.profiles.size(); ++i) {
    ProfileExpander expander(configuration, i, catalog, errors);
    expanded.profiles.push_back(expander.Expand());
    if (std::string warning = expander.Warning(); !warning.empty()) {
      expanded.warnings.push_back(std::move(warning));
    }
  }
  CheckSameOrder(configuration, expanded.profiles, errors);
  if (!errors.empty()) return InvalidArgument("{}", Join(errors, "\n"));
  return expanded;
}

}  // namespace koord::scheduler
