#pragma once
#include <memory>

#include "api/reservation.h"
#include "base/scope.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Gives a reservation its node: writes into its status that it is available there, if it is the
// very one that was decided about, has not ended and has no node yet.
//
// The status is written as it was last seen, and only if nobody has changed the object since;
// otherwise it is read again. As with pods, while no clear answer comes the node stays taken and
// the API server is asked until it is known.
class ReservationBinder {
 public:
  explicit ReservationBinder(const PluginContext& context) : context_(context) {}

  // The attempt is that of a reserve pod.
  void Bind(Attempt& attempt, VerdictDone done);

 private:
  struct Binding;
  using BindingPtr = std::shared_ptr<Binding>;

  void WriteMetadata(BindingPtr binding);
  void Write(const BindingPtr& binding, const api::Reservation& reservation);
  void Read(const BindingPtr& binding);
  void OnRead(const BindingPtr& binding, const StatusOr<kube::Json>& answer);
  void ReadLater(const BindingPtr& binding);

  const PluginContext context_;
  Scope scope_;
};

}  // namespace koord::scheduler
