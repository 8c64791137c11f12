#pragma once
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Tells the API server which node a pod goes to. The binding names the pod's uid, so that a pod
// that was made anew under the same name is never bound by a decision about its predecessor.
class DefaultBinder final : public BindPlugin {
 public:
  static constexpr std::string_view kName = "DefaultBinder";

  explicit DefaultBinder(const PluginContext& context) : client_(context.client) {}

  std::string_view name() const override { return kName; }
  void Bind(Attempt& attempt, VerdictDone done) override;

 private:
  kube::Client* client_;
};

}  // namespace koord::scheduler
