#pragma once
#include <string>

#include "kube/objects/meta.h"

// Makes the root quota of a set of nodes, as large as these.
namespace koord::api {

struct ElasticQuotaProfileSpec {
  std::string quota_name;
  kube::Labels quota_labels;
  std::string resource_ratio;  // "0.9"
  kube::LabelSelector node_selector;

  static void Fields(auto& self, auto&& field) {
    field("quotaName", kube::Always(self.quota_name));
    field("quotaLabels", self.quota_labels);
    field("resourceRatio", self.resource_ratio);
    field("nodeSelector", kube::Always(self.node_selector));
  }
  bool operator==(const ElasticQuotaProfileSpec&) const = default;
};

struct ElasticQuotaProfile {
  kube::ObjectMeta metadata;
  ElasticQuotaProfileSpec spec;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
  }
  bool operator==(const ElasticQuotaProfile&) const = default;
};

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::ElasticQuotaProfile);
