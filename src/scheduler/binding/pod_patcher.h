#pragma once
#include <memory>

#include "base/event_loop.h"
#include "base/random.h"
#include "base/scope.h"
#include "scheduler/binding/object_writers.h"
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// Sends what PreBind plugins have decided about a pod and its binding cannot carry, in one patch:
// labels, and the removal of what an earlier attempt has left on it (api/output_keys.h). Where
// there is no such thing, as for nearly all pods, nothing is sent.
//
// The patch names the pod's uid. Conflicts, overload and broken connections are tried again, four
// times in all.
class PodPatcher {
 public:
  static constexpr std::string_view kPlugin = "DefaultPreBind";

  PodPatcher(EventLoop& loop, ObjectWriters& writers, uint64_t seed);

  // What becomes of the annotations (CPUs, devices, the reservation it uses).
  enum class Annotations : uint8_t {
    kWithTheBinding,  // which sends them itself: no pod has CPUs and no node
    kNow,             // it is somebody else's, who does not know of them
  };
  // The attempt lives until `done`.
  void Patch(const Attempt& attempt, Annotations annotations, VerdictDone done);

 private:
  struct Sending;
  void Send(std::shared_ptr<Sending> sending);

  EventLoop& loop_;
  ObjectWriters& writers_;
  Random random_;
  Scope scope_;
};

}  // namespace koord::scheduler
