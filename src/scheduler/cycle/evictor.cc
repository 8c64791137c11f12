#include "scheduler/cycle/evictor.h"

#include <fmt/format.h>

#include "base/log.h"
#include "kube/eviction/pod_eviction.h"

namespace koord::scheduler {
Evictor::Evictor(kube::Client& client, ObjectWriters& writers, kube::EventRecorder& recorder)
    : client_(client), writers_(writers), recorder_(recorder) {}

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
        {.regarding = writers_.For(*victim).ReferenceTo(*victim),
         .related = writers_.For(preemptor).ReferenceTo(preemptor),
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
  const kube::Disruption why{
      .reason = "PreemptionByScheduler",
      .message =
          fmt::format("{}: preempting to accommodate a higher priority pod", scheduler_name)};
  kube::MarkAndDeletePod(client_, victim.metadata, why, {},
                         [name = KeyOf(victim.metadata).ToString(),
                          done = std::move(done)](const kube::EvictionResult& result) mutable {
                           if (!result.leaves()) {
                             LOG_WARNING("Could not delete the victim of a preemption",
                                         {"pod", name}, {"err", result.status});
                           }
                           done(result.leaves());
                         });
}

}  // namespace koord::scheduler
