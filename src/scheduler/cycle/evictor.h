#pragma once
#include <absl/functional/any_invocable.h>

#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/events/event_recorder.h"
#include "kube/objects/pod.h"
#include "scheduler/binding/object_writers.h"

namespace koord::scheduler {

// Evicts the victims of a preemption, pods all of them: says on each why it goes, then deletes it,
// with its own grace period and by its uid.
class Evictor {
 public:
  Evictor(kube::Client& client, ObjectWriters& writers, kube::EventRecorder& recorder);

  // `done` runs when the API server has answered for all of them: with whether all are on their way
  // out or gone.
  using Done = absl::AnyInvocable<void(bool all_leave)>;
  void Evict(const kube::Pod& preemptor, const std::string& node,
             const std::vector<std::shared_ptr<const kube::Pod>>& victims,
             const std::string& scheduler_name, Done done);

 private:
  void MarkAndDelete(const kube::Pod& victim, const std::string& scheduler_name, Done done);

  kube::Client& client_;
  ObjectWriters& writers_;
  kube::EventRecorder& recorder_;
  Scope scope_;
};

}  // namespace koord::scheduler
