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
                    const std::string& scheduler_name, Done done) {
  struct Progress {
    Done done;
    size_t left;
    bool all_leave = true;
  };
  auto progress = std::make_shared<Progress>(Progress{std::move(done), victims.size() + 1});
  const auto finish_one = [progress](bool leaves) {
    progress->all_leave = progress->all_leave && leaves;
    if (--progress->left == 0) progress->done(progress->all_leave);
  };
  for (const auto& victim : victims) {
    LOG_V(2, "Preempting pod", {"victim", KeyOf(victim->metadata).ToString()},
          {"preemptor", KeyOf(preemptor.metadata).ToString()}, {"node", node});
    if (IsBeingDeleted(victim->metadata)) {
      finish_one(true);
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
  // Also where there is nobody to evict, never inside this call.
  client_.loop().Post(scope_.Wrap([finish_one] { finish_one(true); }));
}

void Evictor::MarkAndDelete(const kube::Pod& victim, const std::string& scheduler_name, Done done) {
  client_.Patch(kube::kPods, KeyOf(victim.metadata), kube::PatchType::kStrategic,
                DisruptionPatch(victim, scheduler_name, client_.loop().clock().Now()),
                {.subresource = "status"},
                [this, victim, done = std::move(done)](const StatusOr<kube::Json>& answer) mutable {
                  if (!answer.ok()) {
                    LOG_WARNING("Could not mark the victim of a preemption",
                                {"pod", KeyOf(victim.metadata).ToString()},
                                {"err", answer.status()});
                    if (kube::IsNotFound(answer.status())) return done(true);
                    if (kube::IsConflict(answer.status())) return done(false);
                  }
                  Delete(victim, std::move(done));
                });
}

void Evictor::Delete(const kube::Pod& victim, Done done) {
  client_.Delete(kube::kPods, KeyOf(victim.metadata), {.uid = victim.metadata.uid},
                 [name = KeyOf(victim.metadata).ToString(),
                  done = std::move(done)](const StatusOr<kube::Json>& answer) mutable {
                   const bool leaves = answer.ok() || kube::IsNotFound(answer.status());
                   if (!leaves) {
                     LOG_WARNING("Could not delete the victim of a preemption", {"pod", name},
                                 {"err", answer.status()});
                   }
                   done(leaves);
                 });
}

}  // namespace koord::scheduler
