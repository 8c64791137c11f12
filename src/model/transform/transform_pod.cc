#include <string_view>

#include "api/device_annotations.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/pod_annotations.h"
#include "api/priority.h"
#include "base/strings.h"
#include "model/transform/copy_on_write.h"
#include "model/transform/transform.h"

namespace koord::model {
namespace {

using PodEdit = CopyOnWrite<kube::Pod>;
using Problems = std::vector<std::string>;

void RenameAllocatedDevices(PodEdit& pod, Problems& problems) {
  const std::string* text =
      kube::FindValue(pod->metadata.annotations, api::kAnnotationDeviceAllocated);
  // Only names of this domain are ever replaced.
  if (text == nullptr || text->find("\"kubernetes.io/") == std::string::npos) return;
  // Reading gives the present names.
  const auto allocations = api::DeviceAllocationsOf(pod->metadata.annotations);
  if (!allocations.ok()) {
    problems.emplace_back(Message(allocations.status()));
    return;
  }
  std::string renamed = api::EncodeDeviceAllocations(**allocations);
  if (renamed == *text) return;
  pod.Edit().metadata.annotations.find(api::kAnnotationDeviceAllocated)->second =
      std::move(renamed);
}

void ReplaceResources(PodEdit& pod, Problems& problems) {
  const std::string_view text =
      kube::ValueOf(pod->metadata.annotations, api::kAnnotationReplaceResources);
  if (text.empty()) return;
  const api::ResourceReplacements replacements = api::ParseReplaceResources(text);
  const size_t understood = replacements.replace.size() + replacements.erase.size();
  if (understood != Split(text, ',').size()) {
    problems.push_back(
        fmt::format("annotation {}: what is not of the form from:to is ignored in {}",
                    api::kAnnotationReplaceResources, Quote(text)));
  }
  if (understood == 0) return;
  kube::PodSpec& spec = pod.Edit().spec;
  for (auto* containers : {&spec.containers, &spec.init_containers}) {
    for (kube::Container& container : containers->Mutable()) {
      api::Apply(replacements, container.resources.requests);
      api::Apply(replacements, container.resources.limits);
    }
  }
  api::Apply(replacements, spec.overhead.Mutable());
}

void SetPriority(PodEdit& pod) {
  const int32_t priority = api::PriorityValueOf(*pod);
  if (priority != pod->spec.priority.value_or(0)) pod.Edit().spec.priority = priority;
}

void SetPreemptionPolicy(PodEdit& pod, Problems& problems) {
  const kube::Labels& labels = pod->metadata.labels;
  std::string policy(api::PreemptionPolicyOf(labels));
  if (policy.empty()) {
    policy = "Never";
    if (const std::string* label = kube::FindValue(labels, api::kLabelPreemptionPolicy)) {
      problems.push_back(
          fmt::format("label {}: {} is neither Never nor PreemptLowerPriority: Never is assumed",
                      api::kLabelPreemptionPolicy, Quote(*label, 64)));
    }
  }
  if (pod->spec.preemption_policy != policy) pod.Edit().spec.preemption_policy = policy;
}

void SetSchedulerName(PodEdit& pod) {
  const std::string* label = kube::FindValue(pod->metadata.labels, api::kLabelSchedulerName);
  if (label == nullptr || *label == pod->spec.scheduler_name) return;
  kube::Pod& edited = pod.Edit();
  edited.metadata.annotations.insert_or_assign(std::string(api::kAnnotationOriginalSchedulerName),
                                               edited.spec.scheduler_name);
  edited.spec.scheduler_name = kube::ValueOf(edited.metadata.labels, api::kLabelSchedulerName);
}

}  // namespace

Transformed<kube::Pod> Transform(std::shared_ptr<const kube::Pod> pod,
                                 const TransformOptions& options) {
  Transformed<kube::Pod> result;
  PodEdit edit(std::move(pod));
  if (api::HasDeprecatedResources(edit->spec)) api::RenameDeprecatedResources(edit.Edit().spec);
  RenameAllocatedDevices(edit, result.problems);
  if (options.replace_resources) ReplaceResources(edit, result.problems);
  if (options.priority) SetPriority(edit);
  if (options.preemption_policy) SetPreemptionPolicy(edit, result.problems);
  SetSchedulerName(edit);
  result.object = edit.Take();
  return result;
}

}  // namespace koord::model
