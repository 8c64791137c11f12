#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/config_document.h"

// Arguments of the plugins that look at how full nodes are.
namespace koord::scheduler {

inline constexpr std::string_view kLeastAllocated = "LeastAllocated";
inline constexpr std::string_view kMostAllocated = "MostAllocated";
inline constexpr std::string_view kRequestedToCapacityRatio = "RequestedToCapacityRatio";

struct ResourceWeight {
  std::string name;
  int64_t weight = 0;  // 0 counts as 1

  static void Fields(auto& self, auto&& field) {
    field("name", kube::Always(self.name));
    field("weight", self.weight);
  }
  bool operator==(const ResourceWeight&) const = default;
};

// cpu and memory, both 1.
std::vector<ResourceWeight> DefaultResourceWeights();
// Gives resources without a weight 1, and the default ones where there are none.
void SetWeightDefaults(std::vector<ResourceWeight>& resources);

// A point of a piecewise linear function.
struct UtilizationShapePoint {
  int32_t utilization = 0;  // percent
  int32_t score = 0;        // 0 to 10

  static void Fields(auto& self, auto&& field) {
    field("utilization", kube::Always(self.utilization));
    field("score", kube::Always(self.score));
  }
  bool operator==(const UtilizationShapePoint&) const = default;
};

struct RequestedToCapacityRatio {
  std::vector<UtilizationShapePoint> shape;

  static void Fields(auto& self, auto&& field) { field("shape", self.shape); }
  bool operator==(const RequestedToCapacityRatio&) const = default;
};

struct ScoringStrategy {
  std::string type;
  std::vector<ResourceWeight> resources;
  std::optional<RequestedToCapacityRatio> requested_to_capacity_ratio;

  static void Fields(auto& self, auto&& field) {
    field("type", self.type);
    field("resources", self.resources);
    field("requestedToCapacityRatio", self.requested_to_capacity_ratio);
  }
  bool operator==(const ScoringStrategy&) const = default;
};

// Of plugins that rate what they allocate: LeastAllocated or MostAllocated, weights from 1 to 100.
void CheckAllocatedStrategy(const std::optional<ScoringStrategy>& strategy, std::string_view what,
                            const kube::ConfigField& at);

struct NodeResourcesFitArgs {
  static constexpr std::string_view kPlugin = "NodeResourcesFit";

  // Extended resources that are not checked, by name or by what stands before the slash.
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;
  std::optional<ScoringStrategy> scoring_strategy;  // set once defaulted

  static void Fields(auto& self, auto&& field) {
    field("ignoredResources", self.ignored_resources);
    field("ignoredResourceGroups", self.ignored_resource_groups);
    field("scoringStrategy", self.scoring_strategy);
  }
  bool operator==(const NodeResourcesFitArgs&) const = default;

  void SetDefaults();
  void Check(const kube::ConfigField& at) const;
};

struct NodeResourcesBalancedAllocationArgs {
  static constexpr std::string_view kPlugin = "NodeResourcesBalancedAllocation";

  std::vector<ResourceWeight> resources;

  static void Fields(auto& self, auto&& field) { field("resources", self.resources); }
  bool operator==(const NodeResourcesBalancedAllocationArgs&) const = default;

  void SetDefaults();
  void Check(const kube::ConfigField& at) const;
};

// How one resource is scored.
struct ResourceStrategy {
  std::string type;
  int64_t weight = 0;

  static void Fields(auto& self, auto&& field) {
    field("type", self.type);
    field("weight", self.weight);
  }
  bool operator==(const ResourceStrategy&) const = default;
};

struct NodeResourcesFitPlusArgs {
  static constexpr std::string_view kPlugin = "NodeResourcesFitPlus";

  std::map<std::string, ResourceStrategy, std::less<>> resources;

  static void Fields(auto& self, auto&& field) { field("resources", self.resources); }
  bool operator==(const NodeResourcesFitPlusArgs&) const = default;

  void Check(const kube::ConfigField& at) const;
};

struct ScarceResourceAvoidanceArgs {
  static constexpr std::string_view kPlugin = "ScarceResourceAvoidance";

  std::vector<std::string> resources;

  static void Fields(auto& self, auto&& field) { field("resources", self.resources); }
  bool operator==(const ScarceResourceAvoidanceArgs&) const = default;
};

}  // namespace koord::scheduler
