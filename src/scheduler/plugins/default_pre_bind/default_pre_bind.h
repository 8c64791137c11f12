#pragma once
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// Where a profile has it, what the other PreBind plugins have decided about a pod is sent to the
// API server, in one patch after all of them (binding/pod_patcher.h). Has nothing to decide itself.
class DefaultPreBind final : public PreBindPlugin {
 public:
  static constexpr std::string_view kName = "DefaultPreBind";

  std::string_view name() const override { return kName; }
  void PreBind(Attempt&, VerdictDone done) override { done(Verdict::Success()); }
};

}  // namespace koord::scheduler
