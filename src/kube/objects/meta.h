#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/codec.h"
#include "kube/resource.h"
#include "kube/shared.h"

// What every Kubernetes object has in common. The structs in this folder hold the fields that our
// components read or write, are decoded once and then shared; writers send patches, so what a
// struct leaves out survives on the server.
namespace koord::kube {

using Labels = std::map<std::string, std::string, std::less<>>;
using Annotations = Labels;

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  std::optional<bool> controller;
  std::optional<bool> block_owner_deletion;

  static void Fields(auto& self, auto&& field) {
    field("apiVersion", Always(self.api_version));
    field("kind", Always(self.kind));
    field("name", Always(self.name));
    field("uid", Always(self.uid));
    field("controller", self.controller);
    field("blockOwnerDeletion", self.block_owner_deletion);
  }
  bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string ns;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  WallTime creation_timestamp{};  // the epoch while the object has not been created
  std::optional<WallTime> deletion_timestamp;
  std::optional<int64_t> deletion_grace_period_seconds;
  Shared<Labels> labels;
  Annotations annotations;
  Shared<std::vector<OwnerReference>> owner_references;
  Shared<std::vector<std::string>> finalizers;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("generateName", self.generate_name);
    field("namespace", self.ns);
    field("uid", self.uid);
    field("resourceVersion", self.resource_version);
    field("generation", self.generation);
    field("creationTimestamp", self.creation_timestamp);
    field("deletionTimestamp", self.deletion_timestamp);
    field("deletionGracePeriodSeconds", self.deletion_grace_period_seconds);
    field("labels", self.labels);
    field("annotations", self.annotations);
    field("ownerReferences", self.owner_references);
    field("finalizers", self.finalizers);
  }
  bool operator==(const ObjectMeta&) const = default;
};

inline ObjectKey KeyOf(const ObjectMeta& meta) { return {meta.ns, meta.name}; }
ObjectKey ObjectKeyOf(JsonView object);  // of one that is not decoded

inline bool IsBeingDeleted(const ObjectMeta& meta) { return meta.deletion_timestamp.has_value(); }

// The owner that manages the object; null if none does.
const OwnerReference* ControllerOf(const ObjectMeta& meta);

// The value under a key, or null.
const std::string* FindValue(const Labels& pairs, std::string_view key);
// The value under a key, or "".
std::string_view ValueOf(const Labels& pairs, std::string_view key);

struct LabelSelectorRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist
  std::vector<std::string> values;

  static void Fields(auto& self, auto&& field) {
    field("key", Always(self.key));
    field("operator", Always(self.op));
    field("values", self.values);
  }
  bool operator==(const LabelSelectorRequirement&) const = default;
};

// An empty selector matches everything. Where a selector may be absent it is optional, and what
// absence means is the field's own rule (mostly: matches nothing).
struct LabelSelector {
  Labels match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;

  static void Fields(auto& self, auto&& field) {
    field("matchLabels", self.match_labels);
    field("matchExpressions", self.match_expressions);
  }
  bool operator==(const LabelSelector&) const = default;
};

struct ObjectReference {
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string api_version;
  std::string resource_version;
  std::string field_path;

  static void Fields(auto& self, auto&& field) {
    field("kind", self.kind);
    field("namespace", self.ns);
    field("name", self.name);
    field("uid", self.uid);
    field("apiVersion", self.api_version);
    field("resourceVersion", self.resource_version);
    field("fieldPath", self.field_path);
  }
  bool operator==(const ObjectReference&) const = default;
};

struct Condition {
  Text type;
  Text status;  // True, False, Unknown
  int64_t observed_generation = 0;
  std::optional<WallTime> last_transition_time;
  Text reason;
  Text message;

  static void Fields(auto& self, auto&& field) {
    field("type", Always(self.type));
    field("status", Always(self.status));
    field("observedGeneration", self.observed_generation);
    field("lastTransitionTime", self.last_transition_time);
    field("reason", self.reason);
    field("message", self.message);
  }
  bool operator==(const Condition&) const = default;
};

// The condition of a type in a list of Condition or of something derived from it; null if missing.
template <class C>
const C* FindCondition(const std::vector<C>& conditions, std::string_view type) {
  for (const C& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

template <class C>
bool IsConditionTrue(const std::vector<C>& conditions, std::string_view type) {
  const C* condition = FindCondition(conditions, type);
  return condition != nullptr && condition->status == "True";
}

// A whole object as it is sent to the server: with the apiVersion and kind of its resource.
template <class T>
Json EncodeObject(const Resource& resource, const T& object) {
  json::object whole{{"apiVersion", resource.api_version()}, {"kind", resource.kind}};
  Json fields = Encode(object);
  for (auto& [name, value] : fields.as_object()) whole.emplace(name, std::move(value));
  return whole;
}

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::ObjectMeta);
KOORD_DECLARE_CODEC(koord::kube::OwnerReference);
KOORD_DECLARE_CODEC(koord::kube::LabelSelector);
KOORD_DECLARE_CODEC(koord::kube::ObjectReference);
KOORD_DECLARE_CODEC(koord::kube::Condition);
