#pragma once
#include <string>
#include <vector>

#include "kube/objects/meta.h"
#include "kube/objects/resource_list.h"

// What namespaces and their objects are bounded by.
namespace koord::kube {

struct ScopeRequirement {
  std::string scope_name;
  std::string operation;  // In, NotIn, Exists, DoesNotExist
  std::vector<std::string> values;

  static void Fields(auto& self, auto&& field) {
    field("scopeName", Always(self.scope_name));
    field("operator", Always(self.operation));
    field("values", self.values);
  }
  bool operator==(const ScopeRequirement&) const = default;
};

struct ScopeSelector {
  std::vector<ScopeRequirement> match_expressions;

  static void Fields(auto& self, auto&& field) {
    field("matchExpressions", self.match_expressions);
  }
  bool operator==(const ScopeSelector&) const = default;
};

struct ResourceQuotaSpec {
  ResourceList hard;
  std::vector<std::string> scopes;
  ScopeSelector scope_selector;

  static void Fields(auto& self, auto&& field) {
    field("hard", self.hard);
    field("scopes", self.scopes);
    field("scopeSelector", self.scope_selector);
  }
  bool operator==(const ResourceQuotaSpec&) const = default;
};

struct ResourceQuotaStatus {
  ResourceList hard;
  ResourceList used;

  static void Fields(auto& self, auto&& field) {
    field("hard", self.hard);
    field("used", self.used);
  }
  bool operator==(const ResourceQuotaStatus&) const = default;
};

struct ResourceQuota {
  ObjectMeta metadata;
  ResourceQuotaSpec spec;
  ResourceQuotaStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const ResourceQuota&) const = default;
};

struct LimitRangeItem {
  std::string type;  // Container, Pod, PersistentVolumeClaim
  ResourceList max;
  ResourceList min;
  ResourceList default_limits;
  ResourceList default_requests;
  ResourceList max_limit_request_ratio;

  static void Fields(auto& self, auto&& field) {
    field("type", Always(self.type));
    field("max", self.max);
    field("min", self.min);
    field("default", self.default_limits);
    field("defaultRequest", self.default_requests);
    field("maxLimitRequestRatio", self.max_limit_request_ratio);
  }
  bool operator==(const LimitRangeItem&) const = default;
};

struct LimitRangeSpec {
  std::vector<LimitRangeItem> limits;

  static void Fields(auto& self, auto&& field) { field("limits", Always(self.limits)); }
  bool operator==(const LimitRangeSpec&) const = default;
};

struct LimitRange {
  ObjectMeta metadata;
  LimitRangeSpec spec;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
  }
  bool operator==(const LimitRange&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::ResourceQuota);
KOORD_DECLARE_CODEC(koord::kube::LimitRange);
