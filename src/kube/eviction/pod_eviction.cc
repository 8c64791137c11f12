#include "kube/eviction/pod_eviction.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "kube/api_error.h"
#include "kube/resources.h"
#include "kube/time.h"

namespace koord::kube {
namespace {

// A server that is merely busy answers 429 as well.
bool IsRefusedByBudget(const Status& status) {
  if (!IsTooManyRequests(status)) return false;
  const auto error = AsApiError(status);
  return std::ranges::any_of(error->causes,
                             [](const auto& cause) { return cause.reason == "DisruptionBudget"; });
}

EvictionAnswer Judge(const Status& status) {
  if (status.ok()) return EvictionAnswer::kLeaves;
  if (IsGone(status)) return EvictionAnswer::kGone;
  return IsRefusedByBudget(status) ? EvictionAnswer::kRefused : EvictionAnswer::kFailed;
}

Client::Done Judged(EvictionDone done) {
  return [done = std::move(done)](StatusOr<Json> answer) mutable {
    done(EvictionResult::Of(std::move(answer).status()));
  };
}

}  // namespace

EvictionResult EvictionResult::Of(Status status) {
  const EvictionAnswer answer = Judge(status);
  return {answer, std::move(status)};
}

Json EvictionOf(const ObjectKey& pod, const DeleteOptions& options) {
  return {{"apiVersion", "policy/v1"},
          {"kind", "Eviction"},
          {"metadata", {{"name", pod.name}, {"namespace", pod.ns}}},
          {"deleteOptions", ToJson(options)}};
}

Json DisruptionPatch(const ObjectMeta& pod, const Disruption& disruption, WallTime now) {
  return {{"metadata", {{"uid", pod.uid}}},
          {"status",
           {{"conditions", json::array{{{"type", "DisruptionTarget"},
                                        {"status", "True"},
                                        {"reason", disruption.reason},
                                        {"message", disruption.message},
                                        {"lastTransitionTime", FormatTime(now)}}}}}}};
}

void EvictPod(Client& client, const ObjectMeta& pod, DeleteOptions options, EvictionDone done) {
  options.uid = pod.uid;
  client.CreateSubresource(kPods, KeyOf(pod), EvictionOf(KeyOf(pod), options),
                           {.subresource = "eviction"}, Judged(std::move(done)));
}

void DeletePod(Client& client, const ObjectMeta& pod, DeleteOptions options, EvictionDone done) {
  options.uid = pod.uid;
  client.Delete(kPods, KeyOf(pod), options, Judged(std::move(done)));
}

void MarkAndDeletePod(Client& client, const ObjectMeta& pod, const Disruption& disruption,
                      DeleteOptions options, EvictionDone done) {
  client.Patch(kPods, KeyOf(pod), PatchType::kStrategic,
               DisruptionPatch(pod, disruption, client.loop().clock().Now()),
               {.subresource = "status"},
               [&client, pod, options = std::move(options),
                done = std::move(done)](const StatusOr<Json>& answer) mutable {
                 EvictionResult marked = EvictionResult::Of(answer.status());
                 if (marked.answer == EvictionAnswer::kGone) return done(marked);
                 if (!marked.status.ok()) {
                   LOG_WARNING("Could not write on a pod why it is deleted",
                               {"pod", KeyOf(pod).ToString()}, {"err", marked.status});
                 }
                 DeletePod(client, pod, std::move(options), std::move(done));
               });
}

}  // namespace koord::kube
