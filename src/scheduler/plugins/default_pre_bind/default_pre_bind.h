#pragma once
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// What users know as the sender of all that PreBind plugins have decided. That is a part of every
// binding here (binding/binding_cycle.h), so that no profile can lose it: nothing is left to do.
class DefaultPreBind final : public PreBindPlugin {
 public:
  static constexpr std::string_view kName = "DefaultPreBind";

  std::string_view name() const override { return kName; }
  void PreBind(Attempt&, VerdictDone done) override { done(Verdict::Success()); }
};

}  // namespace koord::scheduler
