#include "api/pod_annotations.h"

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "base/strings.h"

namespace koord::api {

using kube::Annotations;
using kube::ResourceList;

StatusOr<std::optional<ExtendedResourceSpec>> ExtendedResourceSpecOf(
    const Annotations& annotations) {
  ASSIGN_OR_RETURN(
      std::optional<ExtendedResourceSpec> spec,
      ReadAnnotation<ExtendedResourceSpec>(annotations, kAnnotationExtendedResourceSpec));
  if (spec && spec->containers.empty()) spec.reset();
  return spec;
}

std::string EncodeExtendedResourceSpec(const ExtendedResourceSpec& spec) {
  return EncodeAnnotation(spec);
}

ResourceReplacements ParseReplaceResources(std::string_view text) {
  ResourceReplacements replacements;
  for (const std::string_view pair : Split(text, ',')) {
    const std::vector<std::string_view> sides = Split(pair, ':');
    if (sides.size() != 2) continue;
    const std::string from(Trim(sides[0]));
    const std::string to(Trim(sides[1]));
    if (to.empty()) {
      replacements.erase.push_back(from);
    } else {
      replacements.replace.emplace_back(from, to);
    }
  }
  return replacements;
}

void Apply(const ResourceReplacements& replacements, ResourceList& resources) {
  for (const std::string& name : replacements.erase) resources.erase(name);
  for (const auto& [from, to] : replacements.replace) {
    const auto found = resources.find(from);
    if (found == resources.end() || resources.contains(to)) continue;
    kube::Quantity amount = found->second;
    if (from == kube::kCpu) amount = kube::Quantity(amount.MilliValue());
    resources.erase(found);
    resources.emplace(to, std::move(amount));
  }
}

StatusOr<std::optional<SchedulingHint>> SchedulingHintOf(const Annotations& annotations) {
  const bool is_current = !kube::ValueOf(annotations, kAnnotationSchedulingHint).empty();
  return ReadNonEmptyAnnotation<SchedulingHint>(
      annotations, is_current ? kAnnotationSchedulingHint : kAnnotationDeprecatedSchedulingHint);
}

LoadEstimation LoadEstimationOf(const Annotations& annotations) {
  const auto seconds = [&](std::string_view key) {
    return ParseInt(kube::ValueOf(annotations, key));
  };
  LoadEstimation estimation;
  const auto factors = ReadAnnotation<decltype(estimation.scaling_factors)>(
      annotations, kAnnotationLoadEstimatedScalingFactors);
  if (factors.ok() && *factors) estimation.scaling_factors = **factors;
  estimation.seconds_after_pod_scheduled =
      seconds(kAnnotationLoadEstimatedSecondsAfterPodScheduled);
  estimation.seconds_after_initialized = seconds(kAnnotationLoadEstimatedSecondsAfterInitialized);
  return estimation;
}

}  // namespace koord::api
