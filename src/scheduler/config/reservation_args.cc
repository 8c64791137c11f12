#include "scheduler/config/reservation_args.h"

#include <algorithm>

#include "base/strings.h"
#include "kube/names.h"

namespace koord::scheduler {
namespace {

using kube::ConfigField;

// Longer than anybody waits, and a Duration.
constexpr int64_t kMostSeconds = 100LL * 365 * 24 * 3600;

bool IsExtendedResource(std::string_view name) {
  return name.find('/') != std::string_view::npos &&
         name.find("kubernetes.io/") == std::string_view::npos && !name.starts_with("requests.") &&
         kube::CheckQualifiedName(fmt::format("requests.{}", name)).empty();
}

void CheckNotNegative(int64_t number, const ConfigField& at) {
  if (number < 0) at.Error("{}: must be non-negative", number);
}

void CheckSeconds(int64_t seconds, const ConfigField& at) {
  CheckNotNegative(seconds, at);
  if (seconds > kMostSeconds) at.Error("{}: must be at most {}", seconds, kMostSeconds);
}

void CheckGroup(std::string_view group, const ConfigField& at) {
  if (group.find('/') != std::string_view::npos) {
    at.Error("{}: resource group name can't contain '/'", Quote(group, 64));
  } else if (!IsExtendedResource(fmt::format("{}/x", group))) {
    at.Error(
        "{}: must be usable as an extended resource prefix (a valid DNS subdomain and not the "
        "reserved \"kubernetes.io\" namespace)",
        Quote(group, 64));
  }
}

}  // namespace

void ReservationArgs::SetDefaults() {
  if (gc_duration_seconds == 0) gc_duration_seconds = 24 * 3600;
  if (gc_interval_seconds == 0) gc_interval_seconds = 60;
  if (resync_interval_seconds == 0) resync_interval_seconds = 60;
}

void ReservationArgs::Check(const ConfigField& at) const {
  if (min_candidate_nodes_percentage < 0 || min_candidate_nodes_percentage > 100) {
    at.Member("minCandidateNodesPercentage")
        .Error("{}: must be in the range [0, 100]", min_candidate_nodes_percentage);
  }
  CheckNotNegative(min_candidate_nodes_absolute, at.Member("minCandidateNodesAbsolute"));
  at.Member("controllerWorkers").CheckAtLeast(controller_workers, 1);
  CheckSeconds(gc_duration_seconds, at.Member("gcDurationSeconds"));
  CheckSeconds(gc_interval_seconds, at.Member("gcIntervalSeconds"));
  CheckSeconds(resync_interval_seconds, at.Member("resyncIntervalSeconds"));
  for (size_t i = 0; i < ignored_resources.size(); ++i) {
    if (IsExtendedResource(ignored_resources[i])) continue;
    at.Member("ignoredResources")
        .Item(i)
        .Error(
            "{}: must be an extended resource name (e.g. example.com/gpu); native resources "
            "cannot be ignored",
            Quote(ignored_resources[i], 64));
  }
  for (size_t i = 0; i < ignored_resource_groups.size(); ++i) {
    CheckGroup(ignored_resource_groups[i], at.Member("ignoredResourceGroups").Item(i));
  }
}

bool ReservationArgs::Ignores(std::string_view resource) const {
  if (std::ranges::find(ignored_resources, resource) != ignored_resources.end()) return true;
  const size_t slash = resource.find('/');
  if (slash == std::string_view::npos || slash == 0) return false;
  return std::ranges::find(ignored_resource_groups, resource.substr(0, slash)) !=
         ignored_resource_groups.end();
}

}  // namespace koord::scheduler
