#pragma once
#include <optional>
#include <string>

#include "kube/int_or_string.h"
#include "kube/objects/meta.h"

// Changes pods as they are created: class, priority, labels, and with them their resources.
namespace koord::api {

struct ClusterColocationProfileSpec {
  std::optional<kube::LabelSelector> namespace_selector;  // absent: every namespace
  std::optional<kube::LabelSelector> selector;            // absent: every pod
  std::optional<kube::IntOrString> probability;
  std::string qos_class;
  std::string priority_class_name;
  std::optional<int32_t> koordinator_priority;
  kube::Labels labels;
  kube::Annotations annotations;
  kube::Labels label_keys_mapping;  // old key to new key
  kube::Labels annotation_keys_mapping;
  kube::Labels label_suffixes;
  std::string scheduler_name;
  kube::Json patch;  // a strategic merge patch of the pod

  static void Fields(auto& self, auto&& field) {
    field("namespaceSelector", self.namespace_selector);
    field("selector", self.selector);
    field("probability", self.probability);
    field("qosClass", self.qos_class);
    field("priorityClassName", self.priority_class_name);
    field("koordinatorPriority", self.koordinator_priority);
    field("labels", self.labels);
    field("annotations", self.annotations);
    field("labelKeysMapping", self.label_keys_mapping);
    field("annotationKeysMapping", self.annotation_keys_mapping);
    field("labelSuffixes", self.label_suffixes);
    field("schedulerName", self.scheduler_name);
    field("patch", self.patch);
  }
  bool operator==(const ClusterColocationProfileSpec&) const = default;
};

struct ClusterColocationProfile {
  kube::ObjectMeta metadata;
  ClusterColocationProfileSpec spec;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
  }
  bool operator==(const ClusterColocationProfile&) const = default;
};

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::ClusterColocationProfile);
