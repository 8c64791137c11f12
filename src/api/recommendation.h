#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/meta.h"
#include "kube/objects/resource_list.h"

// How much the containers of a workload should ask for.
namespace koord::api {

struct CrossVersionObjectReference {
  std::string kind;
  std::string name;
  std::string api_version;

  static void Fields(auto& self, auto&& field) {
    field("kind", kube::Always(self.kind));
    field("name", kube::Always(self.name));
    field("apiVersion", self.api_version);
  }
  bool operator==(const CrossVersionObjectReference&) const = default;
};

struct RecommendationTarget {
  std::string type;  // workload, podSelector
  std::optional<CrossVersionObjectReference> workload;
  std::optional<kube::LabelSelector> pod_selector;

  static void Fields(auto& self, auto&& field) {
    field("type", kube::Always(self.type));
    field("workload", self.workload);
    field("podSelector", self.pod_selector);
  }
  bool operator==(const RecommendationTarget&) const = default;
};

struct RecommendationSpec {
  RecommendationTarget target;

  static void Fields(auto& self, auto&& field) { field("target", kube::Always(self.target)); }
  bool operator==(const RecommendationSpec&) const = default;
};

struct RecommendedContainerStatus {
  std::string container_name;
  kube::ResourceList resources;

  static void Fields(auto& self, auto&& field) {
    field("containerName", self.container_name);
    field("resources", self.resources);
  }
  bool operator==(const RecommendedContainerStatus&) const = default;
};

struct RecommendedPodStatus {
  std::vector<RecommendedContainerStatus> container_statuses;

  static void Fields(auto& self, auto&& field) {
    field("containerStatuses", self.container_statuses);
  }
  bool operator==(const RecommendedPodStatus&) const = default;
};

struct RecommendationStatus {
  std::optional<RecommendedPodStatus> pod_status;
  std::optional<WallTime> update_time;
  std::vector<kube::Condition> conditions;

  static void Fields(auto& self, auto&& field) {
    field("podStatus", self.pod_status);
    field("updateTime", self.update_time);
    field("conditions", self.conditions);
  }
  bool operator==(const RecommendationStatus&) const = default;
};

struct Recommendation {
  kube::ObjectMeta metadata;
  RecommendationSpec spec;
  RecommendationStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const Recommendation&) const = default;
};

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::Recommendation);
