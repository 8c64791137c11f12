#pragma once
#include <memory>

#include "base/event_loop.h"
#include "base/random.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// Sends what PreBind plugins have decided about a pod (CPUs, devices, the reservation it uses) as
// labels and annotations in one patch, and nothing where they decided nothing.
//
// The patch names the pod's uid. Conflicts, overload and broken connections are tried again, four
// times in all.
class PodPatcher {
 public:
  static constexpr std::string_view kPlugin = "DefaultPreBind";

  PodPatcher(EventLoop& loop, kube::Client& client, uint64_t seed);

  // The attempt lives until `done`.
  void Patch(const Attempt& attempt, VerdictDone done);

 private:
  struct Sending;
  void Send(std::shared_ptr<Sending> sending);

  EventLoop& loop_;
  kube::Client& client_;
  Random random_;
  Scope scope_;
};

}  // namespace koord::scheduler
