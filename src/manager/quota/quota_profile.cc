#include "manager/quota/quota_profile.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "kube/selectors.h"
#include "model/transform/transform.h"

namespace koord::manager {
namespace {

using kube::Quantity;
using kube::ResourceList;

// As good as no limit, and still far from overflowing when many are added.
constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 2000;

double RatioOf(const std::string& text) {
  double ratio = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ratio);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && ratio > 0 && ratio <= 1 ? ratio : 1;
}

int64_t Truncated(int64_t value, double ratio) {
  return static_cast<int64_t>(std::trunc(static_cast<double>(value) * ratio));
}

void Scale(ResourceList& list, double ratio) {
  if (ratio == 1) return;
  for (auto& [name, amount] : list) {
    if (name == kube::kCpu) {
      amount = Quantity::FromMilli(Truncated(amount.MilliValue(), ratio));
    } else {
      amount = Quantity(Truncated(amount.Value(), ratio), name == kube::kMemory
                                                              ? Quantity::Format::kBinarySi
                                                              : Quantity::Format::kDecimalSi);
    }
  }
}

std::vector<std::string> KeysOf(const api::ElasticQuotaProfile& profile) {
  const auto keys = api::ReadAnnotation<std::vector<std::string>>(
      profile.metadata.annotations, api::kAnnotationQuotaResourceKeys);
  if (keys.ok() && keys->has_value()) return **keys;
  return {std::string(kube::kCpu), std::string(kube::kMemory)};
}

void SetAmounts(api::ElasticQuota& quota, std::string_view annotation,
                const ResourceList& amounts) {
  quota.metadata.annotations.insert_or_assign(std::string(annotation),
                                              api::EncodeAnnotation(amounts));
}

}  // namespace

std::string DefaultTreeId(const kube::ObjectKey& profile) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a, 64 bit
  for (const char c : profile.ns + "/" + profile.name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211u;
  }
  return std::to_string(hash);
}

StatusOr<api::ElasticQuota> QuotaForProfile(
    const api::ElasticQuotaProfile& profile, const std::string& tree_id,
    const std::vector<std::shared_ptr<const kube::Node>>& nodes,
    const api::ElasticQuota* existing) {
  ASSIGN_OR_RETURN(const kube::LabelMatcher matcher,
                   kube::LabelMatcher::From(profile.spec.node_selector));
  ResourceList total, unschedulable;
  for (const auto& node : nodes) {
    if (!matcher.Matches(node->metadata.labels)) continue;
    // Without what the node keeps for itself, as the scheduler counts it.
    const ResourceList allocatable = model::Transform(node).object->status.allocatable;
    kube::AddTo(total, allocatable);
    if (node->spec.unschedulable || !kube::IsReady(*node)) {
      kube::AddTo(unschedulable, allocatable);
    }
  }
  const double ratio = RatioOf(profile.spec.resource_ratio);
  Scale(total, ratio);
  Scale(unschedulable, ratio);

  api::ElasticQuota quota = existing != nullptr ? *existing : api::ElasticQuota();
  quota.metadata.name = profile.spec.quota_name;
  quota.metadata.ns = profile.metadata.ns;
  quota.spec = {};
  for (const std::string& key : KeysOf(profile)) {
    quota.spec.min[key] = kube::AmountOf(total, key);
    quota.spec.max[key] = Quantity(kUnlimited);
  }
  kube::Labels& labels = quota.metadata.labels.Mutable();
  labels.insert_or_assign(std::string(api::kLabelQuotaProfile), profile.metadata.name);
  for (const auto& [key, value] : profile.spec.quota_labels) labels.insert_or_assign(key, value);
  labels.insert_or_assign(std::string(api::kLabelQuotaTreeId), tree_id);
  labels.insert_or_assign(std::string(api::kLabelQuotaIsRoot), "true");
  SetAmounts(quota, api::kAnnotationQuotaTotalResource, total);
  SetAmounts(quota, api::kAnnotationQuotaUnschedulableResource, unschedulable);
  return quota;
}

}  // namespace koord::manager
