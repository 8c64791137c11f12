#include "scheduler/core/failure_reporter.h"

#include <fmt/format.h>

#include "base/log.h"
#include "kube/api_error.h"
#include "kube/resources.h"
#include "kube/time.h"

namespace koord::scheduler {
namespace {

constexpr size_t kMaxNote = 1024;
constexpr std::string_view kCut = " ...";

kube::Json ConditionOf(const kube::Pod& pod, const FailureReporter::Failure& failure,
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

bool IsSame(const kube::Pod& pod, const FailureReporter::Failure& failure,
            const kube::PodCondition* before) {
  return before != nullptr && before->status == "False" && before->message == failure.message &&
         before->reason == (failure.rejected ? "Unschedulable" : "SchedulerError") &&
         before->observed_generation == pod.metadata.generation;
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

std::string ShortenNote(std::string message) {
  if (message.size() <= kMaxNote) return message;
  message.resize(kMaxNote - kCut.size());
  return message.append(kCut);
}

FailureReporter::FailureReporter(kube::Client& client, kube::EventRecorder& recorder)
    : client_(client), recorder_(recorder) {}

void FailureReporter::Record(const kube::Pod& pod, std::string type, std::string reason,
                             std::string action, std::string message) {
  recorder_.Record({.regarding = {.kind = "Pod",
                                  .ns = pod.metadata.ns,
                                  .name = pod.metadata.name,
                                  .uid = pod.metadata.uid,
                                  .api_version = "v1",
                                  .resource_version = pod.metadata.resource_version},
                    .type = std::move(type),
                    .reason = std::move(reason),
                    .action = std::move(action),
                    .message = ShortenNote(std::move(message))});
}

void FailureReporter::Failed(const kube::Pod& pod, const Failure& failure) {
  Record(pod, "Warning", "FailedScheduling", "Scheduling", failure.message);
  const kube::PodCondition* before = FindCondition(pod.status.conditions, "PodScheduled");
  kube::json::object status;
  if (!IsSame(pod, failure, before)) {
    status["conditions"] =
        kube::json::array{ConditionOf(pod, failure, before, client_.loop().clock().Now())};
  }
  if (failure.nominated_node && *failure.nominated_node != pod.status.nominated_node_name) {
    status["nominatedNodeName"] =
        failure.nominated_node->empty() ? kube::Json(nullptr) : kube::Json(*failure.nominated_node);
  }
  if (!status.empty()) PatchStatus(client_, pod, std::move(status));
}

void FailureReporter::SkippedDeleting(const kube::Pod& pod) {
  Record(pod, "Warning", "FailedScheduling", "Scheduling",
         fmt::format("skip schedule deleting pod: {}/{}", pod.metadata.ns, pod.metadata.name));
}

void FailureReporter::Bound(const kube::Pod& pod, std::string_view node) {
  Record(
      pod, "Normal", "Scheduled", "Binding",
      fmt::format("Successfully assigned {}/{} to {}", pod.metadata.ns, pod.metadata.name, node));
}

void FailureReporter::Nominate(const kube::Pod& pod, const std::string& node) {
  PatchStatus(client_, pod,
              {{"nominatedNodeName", node.empty() ? kube::Json(nullptr) : kube::Json(node)}});
}

}  // namespace koord::scheduler
