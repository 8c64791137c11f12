#pragma once
#include <functional>
#include <memory>

#include "scheduler/binding/pod_patcher.h"
#include "scheduler/framework/cycle_point.h"
#include "scheduler/framework/plugin_lineup.h"

namespace koord::scheduler {

// From the chosen node to the bound pod: PreBind plugins one after the other, a patch with what of
// their decisions the binding cannot carry, then whoever binds instead of the plugins, or the first
// Bind plugin that does not pass. Ends with success or with what to report; nothing is undone here.
class BindingCycle {
 public:
  // Asked before each step that writes: an error ends the cycle with it.
  using StillWanted = std::function<Verdict(const Attempt&)>;

  // Told when all plugins of a point have spoken, or one of them has failed.
  using PointDone = std::function<void(CyclePoint, Attempt&, Code)>;

  // Somebody who binds some pods instead of the Bind plugins, and knows nothing of what they were
  // given. What it skips nevertheless, the plugins bind.
  struct BindInstead {
    std::function<bool(const Attempt&)> binds;  // null: none
    std::function<void(const Attempt&, VerdictDone)> bind;
  };

  BindingCycle(const PluginLineup& profile, PodPatcher& patcher, StillWanted still_wanted,
               PointDone point_done, BindInstead instead = {});

  void Run(std::shared_ptr<Attempt> attempt, VerdictDone done);

  // Pods whose patch or binding the API server has not answered yet.
  size_t writing() const { return writing_; }

 private:
  bool IsBoundByOthers(const Attempt& attempt) const {
    return instead_.binds != nullptr && instead_.binds(attempt);
  }
  VerdictDone Written(VerdictDone then);
  void PreBind(std::shared_ptr<Attempt> attempt, size_t next, VerdictDone done);
  void Patch(std::shared_ptr<Attempt> attempt, VerdictDone done);
  void BindSomehow(std::shared_ptr<Attempt> attempt, VerdictDone done);
  void Bind(std::shared_ptr<Attempt> attempt, size_t next, VerdictDone done);

  const PluginLineup& profile_;
  PodPatcher& patcher_;
  const StillWanted still_wanted_;
  const PointDone point_done_;
  const BindInstead instead_;
  size_t writing_ = 0;
};

}  // namespace koord::scheduler
