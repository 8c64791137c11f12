#include "localcluster/controllers/replicaset/replica_set_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"
#include "localcluster/controllers/replicaset/deletion_order.h"

namespace koord::localcluster {
namespace {

constexpr size_t kMostAtOnce = 500;

PodList ActiveOf(const PodList& pods) {
  PodList active;
  std::copy_if(pods.begin(), pods.end(), std::back_inserter(active),
               [](const PodPtr& pod) { return IsActive(*pod); });
  return active;
}

void MakePods(const ReplicaSetInput& input, size_t count, Random& random, kube::Plan& plan) {
  const kube::ReplicaSet& set = input.set;
  for (size_t i = 0; i < std::min(count, kMostAtOnce); ++i) {
    kube::Json pod = PodFromTemplate(set.spec.pod_template, {input.resource, set.metadata});
    NameRandomly(pod, set.metadata.name + "-", random);
    kube::Write write = Create(kube::kPods, std::move(pod));
    plan.Tell(input.resource, set.metadata, "SuccessfulCreate", "Created pod: " + write.key.name);
    plan.Add(std::move(write));
  }
}

void RemovePods(const ReplicaSetInput& input, PodList active, size_t count, kube::Plan& plan) {
  SortForDeletion(active, input.neighbours(), input.now);
  for (size_t i = 0; i < std::min(count, kMostAtOnce); ++i) {
    plan.Tell(input.resource, input.set.metadata, "SuccessfulDelete",
              "Deleted pod: " + active[i]->metadata.name);
    plan.Add(Delete(kube::kPods, active[i]->metadata));
  }
}

bool CarriesTemplateLabels(const kube::Pod& pod, const kube::Json& pod_template) {
  const kube::json::object* labels = kube::FindObject(pod_template, {"metadata", "labels"});
  if (labels == nullptr) return true;
  return std::all_of(labels->begin(), labels->end(), [&](const auto& label) {
    const std::string* value = kube::FindValue(pod.metadata.labels, std::string_view(label.key()));
    return value != nullptr && label.value().is_string() && *value == label.value().get_string();
  });
}

std::vector<kube::Condition> ConditionsOf(const ReplicaSetInput& input) {
  std::vector<kube::Condition> conditions = input.set.status.conditions;
  const kube::Condition* known = kube::FindCondition(conditions, "ReplicaFailure");
  // The message names a pod that was never made, another one each time: were it kept up to date,
  // the set would change, and be looked at again, without end.
  if (known != nullptr && input.failure && known->reason == input.failure->reason) {
    return conditions;
  }
  std::erase_if(conditions, [](const auto& c) { return c.type == "ReplicaFailure"; });
  if (input.failure) {
    conditions.push_back({.type = "ReplicaFailure",
                          .status = "True",
                          .last_transition_time = input.now,
                          .reason = input.failure->reason,
                          .message = input.failure->message});
  }
  return conditions;
}

kube::ReplicaSetStatus StatusOf(const ReplicaSetInput& input, const PodList& active) {
  kube::ReplicaSetStatus status = input.set.status;
  status.replicas = static_cast<int32_t>(active.size());
  status.fully_labeled_replicas = status.ready_replicas = status.available_replicas = 0;
  for (const PodPtr& pod : active) {
    status.fully_labeled_replicas += CarriesTemplateLabels(*pod, input.set.spec.pod_template);
    status.ready_replicas += kube::IsReady(*pod);
    status.available_replicas += IsAvailable(*pod, input.set.spec.min_ready_seconds, input.now);
  }
  status.observed_generation = input.set.metadata.generation;
  status.conditions = ConditionsOf(input);
  return status;
}

}  // namespace

void PlanReplicaSet(const ReplicaSetInput& input, Random& random, kube::Plan& plan) {
  const kube::ReplicaSet& set = input.set;
  PodList active = ActiveOf(input.pods);
  const auto wanted = static_cast<size_t>(std::max(set.spec.replicas.value_or(1), 0));
  if (const auto left = UntilNextAvailable(active, set.spec.min_ready_seconds, input.now)) {
    plan.AgainWithin(*left);
  }
  // First, because what failed may fail again, and then the rest is not tried.
  plan.Add(StatusPatch(input.resource, set.metadata, kube::Encode(set.status),
                       kube::Encode(StatusOf(input, active))));
  if (kube::IsBeingDeleted(set.metadata)) return;
  if (active.size() < wanted) MakePods(input, wanted - active.size(), random, plan);
  if (active.size() > wanted) RemovePods(input, active, active.size() - wanted, plan);
}

}  // namespace koord::localcluster
