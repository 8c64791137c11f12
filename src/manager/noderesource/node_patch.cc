#include "manager/noderesource/node_patch.h"

#include <algorithm>

#include "api/keys.h"
#include "api/node_annotations.h"
#include "manager/noderesource/common/cpu_memory.h"
#include "manager/noderesource/cpu_normalization/cpu_normalization.h"

namespace koord::manager {
namespace {

using kube::Json;
namespace json = kube::json;

bool HasResourceDifference(const kube::Node& node, const NodePlan& plan, double threshold) {
  return std::any_of(plan.resources.begin(), plan.resources.end(), [&](const auto& entry) {
    const auto it = node.status.allocatable.find(entry.first);
    const bool there = it != node.status.allocatable.end();
    if (there != entry.second.has_value()) return true;
    return there && IsResourceDifferent(it->second, *entry.second, threshold);
  });
}

bool IsAnnotationOutOfDate(const kube::Node& node, const std::string& key,
                           const std::optional<std::string>& wanted) {
  // Goes with the resources it is about.
  if (key == api::kAnnotationOriginExtendedAllocatable) return false;
  if (key == api::kAnnotationCpuNormalizationRatio && wanted) {
    return IsNormalizationOutOfDate(node, *wanted);
  }
  const std::string* value = kube::FindValue(node.metadata.annotations, key);
  return wanted ? value == nullptr || *value != *wanted : value != nullptr;
}

bool HasMetaDifference(const kube::Node& node, const NodePlan& plan) {
  return std::any_of(plan.annotations.begin(), plan.annotations.end(),
                     [&](const auto& entry) {
                       return IsAnnotationOutOfDate(node, entry.first, entry.second);
                     }) ||
         std::any_of(plan.labels.begin(), plan.labels.end(), [&](const auto& label) {
           const std::string* value = kube::FindValue(node.metadata.labels, label.first);
           return value == nullptr || *value != label.second;
         });
}

void PatchText(Json& patch, std::string_view map, const kube::Labels& current,
               const std::string& key, const std::optional<std::string>& wanted) {
  const std::string* value = kube::FindValue(current, key);
  const bool right = wanted ? value != nullptr && *value == *wanted : value == nullptr;
  if (right) return;
  kube::At(patch, {"metadata", map, key}) = wanted ? Json(*wanted) : Json(nullptr);
}

void PatchAmounts(Json& patch, std::string_view list, const kube::ResourceList& current,
                  const NodePlan::Resources& wanted) {
  for (const auto& [name, amount] : wanted) {
    const auto it = current.find(name);
    const bool there = it != current.end();
    const bool right = amount ? there && it->second == *amount : !there;
    if (right) continue;
    kube::At(patch, {"status", list, name}) = amount ? Json(amount->ToString()) : Json(nullptr);
  }
}

// The ratio goes, and what was reported comes back. Nobody else may ever report again.
void PatchEndOfAmplification(Json& patch, const kube::Node& node, const NodePlan& plan) {
  const auto ratio = plan.annotations.find(std::string(api::kAnnotationResourceAmplificationRatio));
  if (ratio == plan.annotations.end() || ratio->second) return;
  const auto raw = api::RawAllocatableOf(node.metadata.annotations);
  if (!raw.ok() || !*raw) return;
  kube::At(patch, {"metadata", "annotations", api::kAnnotationRawAllocatable}) = nullptr;
  for (const auto& [name, amount] : **raw) {
    const auto it = node.status.allocatable.find(name);
    // What is not more was not amplified, but reported since.
    if (it == node.status.allocatable.end() || it->second <= amount) continue;
    kube::At(patch, {"status", "allocatable", name}) = amount.ToString();
  }
}

bool IsAmplifiedForNothing(const kube::Node& node, const NodePlan& plan) {
  const auto ratio = plan.annotations.find(std::string(api::kAnnotationResourceAmplificationRatio));
  return ratio != plan.annotations.end() && !ratio->second &&
         node.metadata.annotations.contains(api::kAnnotationRawAllocatable);
}

}  // namespace

NodeSync DecideSync(const kube::Node& node, const NodePlan& plan, double diff_threshold, bool due) {
  if (node.status.allocatable.empty() || node.status.capacity.empty()) return {};
  return {.status = due || HasResourceDifference(node, plan, diff_threshold),
          .meta = HasMetaDifference(node, plan) || IsAmplifiedForNothing(node, plan)};
}

Json NodePatch(const kube::Node& node, const NodePlan& plan, const NodeSync& sync) {
  Json patch = json::object();
  if (!sync.status && !sync.meta) return patch;
  for (const auto& [key, wanted] : plan.annotations) {
    if (key == api::kAnnotationOriginExtendedAllocatable && !sync.status) continue;
    PatchText(patch, "annotations", node.metadata.annotations, key, wanted);
  }
  for (const auto& [key, wanted] : plan.labels) {
    PatchText(patch, "labels", node.metadata.labels, key, wanted);
  }
  if (sync.status) {
    PatchAmounts(patch, "capacity", node.status.capacity, plan.resources);
    PatchAmounts(patch, "allocatable", node.status.allocatable, plan.resources);
  }
  PatchEndOfAmplification(patch, node, plan);
  return patch;
}

bool IsPatchOfStatus(const Json& patch) {
  return kube::Find(patch, {"status"}) != nullptr ||
         kube::Find(patch, {"metadata", "annotations",
                            api::kAnnotationResourceAmplificationRatio}) != nullptr;
}

}  // namespace koord::manager
