#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/meta.h"
#include "kube/objects/resource_list.h"

// A share of the cluster: at least min, at most max. Quotas form a tree; its shape and everything
// else stand in labels and annotations.
namespace koord::api {

inline constexpr std::string_view kRootQuota = "koordinator-root-quota";
inline constexpr std::string_view kSystemQuota = "koordinator-system-quota";
inline constexpr std::string_view kDefaultQuota = "koordinator-default-quota";

struct ElasticQuotaSpec {
  kube::ResourceList min;
  kube::ResourceList max;

  static void Fields(auto& self, auto&& field) {
    field("min", self.min);
    field("max", self.max);
  }
  bool operator==(const ElasticQuotaSpec&) const = default;
};

struct ElasticQuotaStatus {
  kube::ResourceList used;

  static void Fields(auto& self, auto&& field) { field("used", self.used); }
  bool operator==(const ElasticQuotaStatus&) const = default;
};

struct ElasticQuota {
  kube::ObjectMeta metadata;
  ElasticQuotaSpec spec;
  ElasticQuotaStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const ElasticQuota&) const = default;
};

bool IsParentQuota(const ElasticQuota& quota);
// The root's own parent is "".
std::string_view ParentQuotaOf(const ElasticQuota& quota);
bool IsTreeRootQuota(const ElasticQuota& quota);
bool AllowsLending(const ElasticQuota& quota);
// The quota's part of what is left over: the annotation, or max where that says nothing.
kube::ResourceList SharedWeightOf(const ElasticQuota& quota);
// Namespaces whose pods are charged to the quota.
std::vector<std::string> NamespacesOf(const ElasticQuota& quota);
// A list of amounts under a quota's annotation (runtime, request, admission, ...); empty where it
// is absent or empty.
StatusOr<kube::ResourceList> QuotaAmounts(const ElasticQuota& quota, std::string_view annotation);
// Whether the pod may be preempted by others of its quota.
bool IsPreemptibleInQuota(const kube::Labels& pod_labels);

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::ElasticQuota);
