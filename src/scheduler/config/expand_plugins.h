#pragma once
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "scheduler/config/extension_point.h"
#include "scheduler/config/scheduler_configuration.h"

namespace koord::scheduler {

// The plugins that are built in, and where each has something to say.
using PluginCatalog = std::map<std::string, std::set<ExtensionPoint>, std::less<>>;

struct EnabledPlugin {
  std::string name;
  int64_t weight = 1;  // of its score

  bool operator==(const EnabledPlugin&) const = default;
};

// What runs at each extension point of one profile, in this order.
struct ProfilePlugins {
  std::string scheduler_name;
  std::array<std::vector<EnabledPlugin>, kExtensionPoints.size()> points;

  const std::vector<EnabledPlugin>& At(ExtensionPoint point) const {
    return points[IndexOf(point)];
  }
};

struct ExpandedPlugins {
  std::vector<ProfilePlugins> profiles;  // as in the configuration
  std::vector<std::string> warnings;
};

// Works out the final order of plugins:
//   1. those that the point enables and multiPoint lists too, in the point's order;
//   2. those that only multiPoint lists and the point does not disable;
//   3. the others that the point enables.
// A point that disables "*" runs what it enables, in that order, and nothing else.
//
// Plugins of Kubernetes or Koordinator that are not in the catalog are left out with a warning. An
// unknown plugin, one at a point where it has nothing to say, a profile without exactly one order
// for its queue or without a plugin that binds, and profiles with different orders are errors, all
// of them reported at once.
StatusOr<ExpandedPlugins> ExpandPlugins(const SchedulerConfiguration& configuration,
                                        const PluginCatalog& catalog);

}  // namespace koord::scheduler
