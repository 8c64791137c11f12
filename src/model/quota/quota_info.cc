#include "model/quota/quota_info.h"

#include <utility>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "base/strings.h"

namespace koord::model {
namespace {

using kube::ResourceList;

// "[cpu memory]"; empty if none is negative.
std::string NegativeNames(const ResourceList& list) {
  std::vector<std::string_view> names;
  for (const auto& [name, amount] : list) {
    if (amount.Sign() < 0) names.push_back(name);
  }
  return names.empty() ? "" : "[" + Join(names, " ") + "]";
}

Status CheckAmounts(const api::ElasticQuota& quota) {
  const std::string& name = quota.metadata.name;
  if (const std::string names = NegativeNames(quota.spec.max); !names.empty()) {
    return InvalidArgument("{} quota.Spec.Max's value < 0, in dimensions :{}", name, names);
  }
  if (const std::string names = NegativeNames(quota.spec.min); !names.empty()) {
    return InvalidArgument("{} quota.Spec.Min's value < 0, in dimensions :{}", name, names);
  }
  ASSIGN_OR_RETURN(const ResourceList weight,
                   api::QuotaAmounts(quota, api::kAnnotationQuotaSharedWeight));
  if (const std::string names = NegativeNames(weight); !names.empty()) {
    return InvalidArgument("{} quota.Annotation[{}]'s value < 0, in dimension :{}", name,
                           api::kAnnotationQuotaSharedWeight, names);
  }
  return absl::OkStatus();
}

Status CheckMinWithinMax(const api::ElasticQuota& quota) {
  for (const auto& [key, min] : quota.spec.min) {
    const auto max = quota.spec.max.find(key);
    if (max == quota.spec.max.end()) {
      return InvalidArgument(
          "resourceKey {} of quota {} is included in min, which is not included in max", key,
          quota.metadata.name);
    }
    if (min > max->second) {
      return InvalidArgument("resourceKey {} of quota {} min {} > max {}", key, quota.metadata.name,
                             min.ToString(), max->second.ToString());
    }
  }
  return absl::OkStatus();
}

Status CheckStrictMax(const api::ElasticQuota& quota) {
  constexpr std::string_view kKey = api::kAnnotationQuotaMaxStrictCheckResourceKeys;
  const std::string* text = kube::FindValue(quota.metadata.annotations, kKey);
  if (text == nullptr || text->empty()) return absl::OkStatus();
  const auto keys = api::DecodeLoose<std::vector<std::string>>(*text);
  if (!keys.ok()) {
    return InvalidArgument("{} quota.Annotation[{}]'s value is invalid: {}", quota.metadata.name,
                           kKey, Message(keys.status()));
  }
  for (const std::string& key : *keys) {
    const auto used = quota.status.used.find(key);
    if (used == quota.status.used.end()) continue;
    const auto max = quota.spec.max.find(key);
    if (max == quota.spec.max.end()) {
      return InvalidArgument(
          "resourceKey {} of quota {} is included in used, which is not included in max but should "
          "check max >= used",
          key, quota.metadata.name);
    }
    if (max->second < used->second) {
      return InvalidArgument("resourceKey {} of quota {} max {} < used {}", key,
                             quota.metadata.name, max->second.ToString(), used->second.ToString());
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsBuiltInQuota(std::string_view name) {
  return name == api::kRootQuota || name == api::kSystemQuota || name == api::kDefaultQuota;
}

QuotaInfo InfoOf(const api::ElasticQuota& quota) {
  const kube::Labels& labels = quota.metadata.labels;
  QuotaInfo info;
  info.name = quota.metadata.name;
  info.ns = quota.metadata.ns;
  info.parent = api::ParentQuotaOf(quota);
  info.tree_id = kube::ValueOf(labels, api::kLabelQuotaTreeId);
  info.is_parent = api::IsParentQuota(quota);
  info.is_tree_root = api::IsTreeRootQuota(quota);
  info.allow_lent = api::AllowsLending(quota);
  info.force_update = kube::ValueOf(labels, api::kLabelQuotaAllowForceUpdate) == "true";
  info.ignore_default_tree = kube::ValueOf(labels, api::kLabelQuotaIgnoreDefaultTree) == "true";
  info.min = quota.spec.min;
  info.max = quota.spec.max;
  info.guaranteed =
      api::QuotaAmounts(quota, api::kAnnotationQuotaGuaranteed).value_or(ResourceList());
  info.weight = api::SharedWeightOf(quota);
  info.total =
      api::QuotaAmounts(quota, api::kAnnotationQuotaTotalResource).value_or(ResourceList());
  info.namespaces = api::NamespacesOf(quota);
  return info;
}

bool SharesAlike(const api::ElasticQuota& a, const api::ElasticQuota& b) {
  QuotaInfo one = InfoOf(a), other = InfoOf(b);
  // What was written there by a scheduler.
  one.guaranteed.clear();
  other.guaranteed.clear();
  return one == other;
}

Status CheckQuota(const api::ElasticQuota& quota) {
  RETURN_IF_ERROR(CheckAmounts(quota));
  RETURN_IF_ERROR(CheckMinWithinMax(quota));
  return CheckStrictMax(quota);
}

}  // namespace koord::model
