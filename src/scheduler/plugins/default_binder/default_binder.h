#pragma once
#include "base/scope.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Tells the API server which node a pod goes to and what it was given there, in one write: the
// annotations of a binding become the pod's. The binding names the pod's uid, so that a pod that
// was made anew under the same name is never bound by a decision about its predecessor.
//
// When no clear answer comes, the pod may or may not be bound: then the API server is asked until
// it is known, and the node stays taken meanwhile. Otherwise its room would be given away twice.
class DefaultBinder final : public BindPlugin {
 public:
  static constexpr std::string_view kName = "DefaultBinder";

  explicit DefaultBinder(const PluginContext& context)
      : loop_(context.loop), client_(context.client) {}

  std::string_view name() const override { return kName; }
  void Bind(Attempt& attempt, VerdictDone done) override;

 private:
  // Finds out what became of the binding.
  void Settle(const Attempt& attempt, Status error, VerdictDone done);

  EventLoop& loop_;
  kube::Client* client_;
  Scope scope_;
};

}  // namespace koord::scheduler
