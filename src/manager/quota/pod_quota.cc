#include "manager/quota/pod_quota.h"

#include "api/elastic_quota.h"
#include "api/keys.h"

namespace koord::manager {

std::string QuotaOfPod(const QuotaTopology& quotas, const kube::Labels& pod_labels,
                       std::string_view ns, bool no_default) {
  const std::string_view label = kube::ValueOf(pod_labels, api::kLabelQuotaName);
  if (!label.empty() || no_default) return std::string(label);
  const QuotaInfo* same_name = quotas.Find(ns);
  if (same_name != nullptr && same_name->ns == ns) return std::string(ns);
  const std::string_view bound = quotas.OfNamespace(ns);
  return std::string(bound.empty() ? api::kDefaultQuota : bound);
}

}  // namespace koord::manager
