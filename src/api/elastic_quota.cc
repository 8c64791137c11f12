#include "api/elastic_quota.h"

#include "api/annotation_codec.h"
#include "api/keys.h"

namespace koord::api {

using kube::ResourceList;
using kube::ValueOf;

bool IsParentQuota(const ElasticQuota& quota) {
  return ValueOf(quota.metadata.labels, kLabelQuotaIsParent) == "true";
}

std::string_view ParentQuotaOf(const ElasticQuota& quota) {
  const std::string_view parent = ValueOf(quota.metadata.labels, kLabelQuotaParent);
  if (!parent.empty()) return parent;
  return quota.metadata.name == kRootQuota ? std::string_view() : kRootQuota;
}

bool IsTreeRootQuota(const ElasticQuota& quota) {
  return ValueOf(quota.metadata.labels, kLabelQuotaIsRoot) == "true";
}

bool AllowsLending(const ElasticQuota& quota) {
  return ValueOf(quota.metadata.labels, kLabelQuotaAllowLentResource) != "false";
}

ResourceList SharedWeightOf(const ElasticQuota& quota) {
  const auto weight = QuotaAmounts(quota, kAnnotationQuotaSharedWeight);
  return weight.ok() && !kube::IsZero(*weight) ? *weight : quota.spec.max;
}

std::vector<std::string> NamespacesOf(const ElasticQuota& quota) {
  const auto namespaces = ReadAnnotation<std::vector<std::string>>(quota.metadata.annotations,
                                                                   kAnnotationQuotaNamespaces);
  return namespaces.ok() ? namespaces->value_or(std::vector<std::string>())
                         : std::vector<std::string>();
}

StatusOr<ResourceList> QuotaAmounts(const ElasticQuota& quota, std::string_view annotation) {
  ASSIGN_OR_RETURN(std::optional<ResourceList> amounts,
                   ReadNonEmptyAnnotation<ResourceList>(quota.metadata.annotations, annotation));
  return amounts.value_or(ResourceList());
}

bool IsPreemptibleInQuota(const kube::Labels& pod_labels) {
  return ValueOf(pod_labels, kLabelQuotaPreemptible) != "false";
}

}  // namespace koord::api

KOORD_DEFINE_CODEC(koord::api::ElasticQuota);
