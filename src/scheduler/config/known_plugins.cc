#include "scheduler/config/known_plugins.h"

#include <algorithm>
#include <array>

#include "base/suggest.h"

namespace koord::scheduler {
namespace {

// Beside the ones that run by default.
constexpr std::array<std::string_view, 12> kFurtherPlugins{
    // Koordinator
    "Coscheduling",
    kDefaultPreBind,
    "DeviceShare",
    "ElasticQuota",
    "LoadAwareScheduling",
    "NodeNUMAResource",
    "NodeResourcesFitPlus",
    "Reservation",
    "ScarceResourceAvoidance",
    "SchedulingHint",
    // Kubernetes, behind alpha gates
    "GangScheduling",
    "NodeDeclaredFeatures",
};

std::vector<std::string> MakeNames() {
  std::vector<std::string> names;
  for (const PluginRef& plugin : DefaultMultiPoint()) names.push_back(plugin.name);
  names.insert(names.end(), kFurtherPlugins.begin(), kFurtherPlugins.end());
  return names;
}

const std::vector<std::string>& KnownNames() {
  static const std::vector<std::string> names = MakeNames();
  return names;
}

}  // namespace

const std::vector<PluginRef>& DefaultMultiPoint() {
  static const std::vector<PluginRef> plugins{
      {"SchedulingGates"},
      {"PrioritySort"},
      {"NodeUnschedulable"},
      {"NodeName"},
      {"TaintToleration", 3},
      {"NodeAffinity", 2},
      {"NodePorts"},
      {"NodeResourcesFit", 1},
      {"VolumeRestrictions"},
      {"NodeVolumeLimits"},
      {"VolumeBinding"},
      {"VolumeZone"},
      {"PodTopologySpread", 2},
      {"InterPodAffinity", 2},
      {"DynamicResources", 2},
      {"DefaultPreemption"},
      {"NodeResourcesBalancedAllocation", 1},
      {"ImageLocality", 1},
      {"DefaultBinder"},
  };
  return plugins;
}

bool IsKnownPlugin(std::string_view name) {
  return std::ranges::find(KnownNames(), name) != KnownNames().end();
}

std::optional<std::string> SuggestPlugin(std::string_view name) {
  return Suggest(name, KnownNames());
}

}  // namespace koord::scheduler
