#pragma once
#include <memory>
#include <string>

#include "base/scope.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/plugins/reservation/offer.h"

namespace koord::scheduler {

// Writes down who uses a reservation that can be used once, on the reservation itself and before
// that pod is bound: then it is known to be used up also if the pod is gone before anybody has
// looked, and if this process is. The mark of a pod that was not bound is taken back.
class Consumption {
 public:
  explicit Consumption(const PluginContext& context) : context_(context) {}

  // Fails if the reservation is gone by now, or about to go.
  void Mark(const Offer& offer, const kube::Pod& consumer, VerdictDone done);
  // If the mark is still that of this pod.
  void Unmark(const Holdings::Reservation& reservation, bool is_pod, const kube::Pod& consumer,
              const std::string& ns);

 private:
  struct Marking;
  void Send(const std::shared_ptr<Marking>& marking);

  const PluginContext context_;
  Scope scope_;
};

}  // namespace koord::scheduler
