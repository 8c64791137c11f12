#include "scheduler/config/node_resources_args.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/strings.h"
#include "kube/names.h"
#include "kube/objects/resource_list.h"

namespace koord::scheduler {
namespace {

using kube::ConfigField;

void CheckIgnoredGroup(std::string_view group, const ConfigField& at) {
  if (group.find('/') != std::string_view::npos) {
    at.Error("{} is no resource group: it must not contain a slash", Quote(group, 64));
  } else if (const std::string wrong = kube::CheckQualifiedName(group); !wrong.empty()) {
    at.Error("{} is no resource group: {}", Quote(group, 64), wrong);
  }
}

void CheckPoint(const UtilizationShapePoint& point, const ConfigField& at) {
  at.Member("utilization").CheckRange(point.utilization, 0, 100);
  at.Member("score").CheckRange(point.score, 0, 10);
}

void CheckShape(const std::vector<UtilizationShapePoint>& shape, const ConfigField& at) {
  if (shape.empty()) at.Error("must have at least one point");
  for (size_t i = 0; i < shape.size(); ++i) {
    CheckPoint(shape[i], at.Item(i));
    if (i > 0 && shape[i].utilization <= shape[i - 1].utilization) {
      at.Item(i)
          .Member("utilization")
          .Error("{} is not greater than {}, the one before it", shape[i].utilization,
                 shape[i - 1].utilization);
    }
  }
}

void CheckStrategy(const ScoringStrategy& strategy, const ConfigField& at) {
  constexpr std::array<std::string_view, 3> kTypes{kLeastAllocated, kMostAllocated,
                                                   kRequestedToCapacityRatio};
  at.Member("type").CheckOneOf(strategy.type, kTypes);
  for (size_t i = 0; i < strategy.resources.size(); ++i) {
    at.Member("resources")
        .Item(i)
        .Member("weight")
        .CheckRange(strategy.resources[i].weight, 1, 100);
  }
  if (strategy.type != kRequestedToCapacityRatio) return;
  const auto& ratio = strategy.requested_to_capacity_ratio;
  CheckShape(ratio ? ratio->shape : std::vector<UtilizationShapePoint>(),
             at.Member("requestedToCapacityRatio").Member("shape"));
}

}  // namespace

std::vector<ResourceWeight> DefaultResourceWeights() {
  return {{std::string(kube::kCpu), 1}, {std::string(kube::kMemory), 1}};
}

void SetWeightDefaults(std::vector<ResourceWeight>& resources) {
  if (resources.empty()) resources = DefaultResourceWeights();
  for (ResourceWeight& resource : resources) {
    if (resource.weight == 0) resource.weight = 1;
  }
}

void NodeResourcesFitArgs::SetDefaults() {
  if (!scoring_strategy) scoring_strategy = ScoringStrategy{std::string(kLeastAllocated), {}, {}};
  SetWeightDefaults(scoring_strategy->resources);
}

void NodeResourcesFitArgs::Check(const ConfigField& at) const {
  for (size_t i = 0; i < ignored_resources.size(); ++i) {
    const std::string wrong = kube::CheckQualifiedName(ignored_resources[i]);
    if (wrong.empty()) continue;
    at.Member("ignoredResources")
        .Item(i)
        .Error("{} is no resource: {}", Quote(ignored_resources[i], 64), wrong);
  }
  for (size_t i = 0; i < ignored_resource_groups.size(); ++i) {
    CheckIgnoredGroup(ignored_resource_groups[i], at.Member("ignoredResourceGroups").Item(i));
  }
  if (scoring_strategy) CheckStrategy(*scoring_strategy, at.Member("scoringStrategy"));
}

void NodeResourcesBalancedAllocationArgs::SetDefaults() { SetWeightDefaults(resources); }

void NodeResourcesBalancedAllocationArgs::Check(const ConfigField& at) const {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < resources.size(); ++i) {
    const ConfigField place = at.Member("resources").Item(i);
    if (resources[i].weight != 1) {
      place.Member("weight").Error("{} is not allowed: must be 1", resources[i].weight);
    }
    if (!seen.insert(resources[i].name).second) {
      place.Member("name").Error("{} is listed twice", Quote(resources[i].name, 64));
    }
  }
}

void NodeResourcesFitPlusArgs::Check(const ConfigField& at) const {
  for (const auto& [name, strategy] : resources) {
    const ConfigField place = at.Member("resources").Member(name);
    if (strategy.type != kLeastAllocated && strategy.type != kMostAllocated) {
      place.Member("type").Warning("{} is neither {} nor {}: every node scores 0 for it",
                                   Quote(strategy.type, 64), kLeastAllocated, kMostAllocated);
    }
    place.Member("weight").CheckAtLeast(strategy.weight, 0);
  }
}

void CheckAllocatedStrategy(const std::optional<ScoringStrategy>& strategy, std::string_view what,
                            const kube::ConfigField& at) {
  if (!strategy) return;
  if (strategy->type != kLeastAllocated && strategy->type != kMostAllocated) {
    at.Member("type").Error("{} {} is not supported", what, strategy->type);
  }
  for (size_t i = 0; i < strategy->resources.size(); ++i) {
    const ResourceWeight& resource = strategy->resources[i];
    if (0 < resource.weight && resource.weight <= 100) continue;
    at.Member("resources")
        .Item(i)
        .Member("weight")
        .Error("resource weight of {} not in valid range (0, 100]", resource.name);
  }
}

}  // namespace koord::scheduler
