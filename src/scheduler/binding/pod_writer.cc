#include "scheduler/binding/pod_writer.h"

#include "base/log.h"
#include "kube/api_error.h"
#include "kube/resources.h"
#include "kube/time.h"

namespace koord::scheduler {
namespace {

using Failure = ObjectWriter::Failure;

kube::Json ConditionOf(const kube::Pod& pod, const Failure& failure,
                       const kube::PodCondition* before, WallTime now) {
  const WallTime since = before != nullptr && before->status == "False"
                             ? before->last_transition_time.value_or(now)
                             : now;
  kube::json::object condition{
      {"type", "PodScheduled"},
      {"status", "False"},
      {"reason", failure.rejected ? "Unschedulable" : "SchedulerError"},
      {"message", failure.message},
      {"lastProbeTime", nullptr},
      {"lastTransitionTime", kube::Encode(since)},
  };
  if (pod.metadata.generation != 0) condition["observedGeneration"] = pod.metadata.generation;
  return condition;
}

bool IsSame(const kube::Pod& pod, const Failure& failure, const kube::PodCondition* before) {
  return before != nullptr && before->status == "False" && before->message == failure.message &&
         before->reason == (failure.rejected ? "Unschedulable" : "SchedulerError") &&
         before->observed_generation == pod.metadata.generation;
}

kube::Json NodeOrNull(const std::string& node) {
  return node.empty() ? kube::Json(nullptr) : kube::Json(node);
}

void PatchStatus(kube::Client& client, const kube::Pod& pod, kube::json::object status) {
  const kube::Json patch = {{"metadata", {{"uid", pod.metadata.uid}}},
                            {"status", std::move(status)}};
  client.Patch(
      kube::kPods, KeyOf(pod.metadata), kube::PatchType::kStrategic, patch,
      {.subresource = "status"},
      [name = KeyOf(pod.metadata).ToString()](const StatusOr<kube::Json>& answer) {
        if (answer.ok() || kube::IsNotFound(answer.status())) return;
        LOG_WARNING("Could not update the pod's status", {"pod", name}, {"err", answer.status()});
      });
}

}  // namespace

kube::ObjectReference PodWriter::ReferenceTo(const kube::Pod& pod) const {
  return {.kind = "Pod",
          .ns = pod.metadata.ns,
          .name = pod.metadata.name,
          .uid = pod.metadata.uid,
          .api_version = "v1",
          .resource_version = pod.metadata.resource_version};
}

std::string PodWriter::NameOf(const kube::Pod& pod) const { return KeyOf(pod.metadata).ToString(); }

void PodWriter::PatchMetadata(const kube::Pod& pod, kube::json::object metadata,
                              kube::Client::Done done) {
  metadata["uid"] = pod.metadata.uid;
  client_.Patch(kube::kPods, KeyOf(pod.metadata), kube::PatchType::kStrategic,
                kube::json::object{{"metadata", std::move(metadata)}}, {}, std::move(done));
}

void PodWriter::ShowFailure(const kube::Pod& pod, const Failure& failure) {
  const kube::PodCondition* before = FindCondition(pod.status.conditions, "PodScheduled");
  kube::json::object status;
  if (!IsSame(pod, failure, before)) {
    status["conditions"] =
        kube::json::array{ConditionOf(pod, failure, before, client_.loop().clock().Now())};
  }
  if (failure.nominated_node && *failure.nominated_node != pod.status.nominated_node_name) {
    status["nominatedNodeName"] = NodeOrNull(*failure.nominated_node);
  }
  if (!status.empty()) PatchStatus(client_, pod, std::move(status));
}

void PodWriter::ShowPromise(const kube::Pod& pod, const std::string& node) {
  PatchStatus(client_, pod, {{"nominatedNodeName", NodeOrNull(node)}});
}

}  // namespace koord::scheduler
