#include "scheduler/core/evictor.h"

#include <fmt/format.h>

#include "base/log.h"
#include "kube/api_error.h"
#include "kube/resources.h"

namespace koord::scheduler {
namespace {

kube::ObjectReference ReferenceTo(const kube::Pod& pod) {
  return {.kind = "Pod",
          .ns = pod.metadata.ns,
          .name = pod.metadata.name,
          .uid = pod.metadata.uid,
          .api_version = "v1",
          .resource_version = pod.metadata.resource_version};
}

kube::Json DisruptionPatch(const kube::Pod& victim, const std::string& scheduler_name,
                           WallTime now) {
  return {{"metadata", {{"uid", victim.metadata.uid}}},
          {"status",
           {{"conditions",
             kube::json::array{
                 {{"type", "DisruptionTarget"},
                  {"status", "True"},
                  {"reason", "PreemptionByScheduler"},
                  {"message", fmt::format("{}: preempting to accommodate a higher priority pod",
                                          scheduler_name)},
                  {"lastProbeTime", nullptr},
                  {"lastTransitionTime", kube::Encode(now)}}}}}}};
}

}  // namespace

Evictor::Evictor(kube::Client& client, kube::EventRecorder& recorder)
    : client_(client), recorder_(recorder) {}

void Evictor::Evict(const kube::Pod& preemptor, const std::string& node,
                    const std::vector<std::shared_ptr<const kube::Pod>>& victims,
                    const std::string& scheduler_name, Task done) {
  auto all_done = std::make_shared<Task>(std::move(done));
  auto left = std::make_shared<size_t>(victims.size() + 1);
  const auto finish_one = [all_done, left] {
    if (--*left == 0) (*all_done)();
  };
  for (const auto& victim : victims) {
    LOG_V(2, "Preempting pod", {"victim", KeyOf(victim->metadata).ToString()},
          {"preemptor", KeyOf(preemptor.metadata).ToString()}, {"node", node});
    if (IsBeingDeleted(victim->metadata)) {
      finish_one();
      continue;
    }
    recorder_.Record(
        {.regarding = ReferenceTo(*victim),
         .related = ReferenceTo(preemptor),
         .type = "Normal",
         .reason = "Preempted",
         .action = "Preempting",
         .message = fmt::format("Preempted by pod {} on node {}", preemptor.metadata.uid, node)});
    MarkAndDelete(*victim, scheduler_name, finish_one);
  }
  client_.loop().Post(finish_one);  // also where there is nobody to evict, never inside this call
}

void Evictor::MarkAndDelete(const kube::Pod& victim, const std::string& scheduler_name, Task done) {
  client_.Patch(kube::kPods, KeyOf(victim.metadata), kube::PatchType::kStrategic,
                DisruptionPatch(victim, scheduler_name, client_.loop().clock().Now()),
                {.subresource = "status"},
                [this, victim, done = std::move(done)](const StatusOr<kube::Json>& answer) mutable {
                  if (!answer.ok()) {
                    LOG_WARNING("Could not mark the victim of a preemption",
                                {"pod", KeyOf(victim.metadata).ToString()},
                                {"err", answer.status()});
                    if (kube::IsNotFound(answer.status()) || kube::IsConflict(answer.status())) {
                      return done();
                    }
                  }
                  Delete(victim, std::move(done));
                });
}

void Evictor::Delete(const kube::Pod& victim, Task done) {
  client_.Delete(kube::kPods, KeyOf(victim.metadata), {.uid = victim.metadata.uid},
                 [name = KeyOf(victim.metadata).ToString(),
                  done = std::move(done)](const StatusOr<kube::Json>& answer) mutable {
                   if (!answer.ok() && !kube::IsNotFound(answer.status())) {
                     LOG_WARNING("Could not delete the victim of a preemption", {"pod", name},
                                 {"err", answer.status()});
                   }
                   done();
                 });
}

}  // namespace koord::scheduler
