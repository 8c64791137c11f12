#pragma once
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "koordlet/enforcement/restorer.h"
#include "koordlet/hooks/runtime_hooks.h"
#include "koordlet/qos/qos_manager.h"
#include "koordlet/undo/undo_file.h"

namespace koord::koordlet {

// What koordlet does to the machine: the strategies and runtime hooks whose gates are on. What
// those did that were on in an earlier run and are off now is put back, as a small file remembers
// it.
class Enforcement {
 public:
  struct Options {
    hooks::HookOptions hooks;
    std::string undo_file;  // empty: nothing is known of earlier runs
    bool dry_run = false;   // nothing is put back or remembered
  };

  // What they work with outlives this; the file is given to both.
  Enforcement(EventLoop& loop, QosContext strategies, hooks::RuntimeHooks::Surroundings hooks,
              Options options);

  void Start();
  // What was set stays; from now on nothing is.
  void Stop();
  // One pass of all of it, now.
  void RunOnce();

  hooks::HookRunner& hook_runner() { return hooks_->runner(); }  // until Stop

 private:
  void Restore();

  EventLoop& loop_;
  const Options options_;
  UndoFile undo_;
  const QosContext strategy_context_;
  const hooks::RuntimeHooks::Surroundings hook_surroundings_;
  QosManager strategies_;
  std::unique_ptr<hooks::RuntimeHooks> hooks_;  // null once stopped
  std::unique_ptr<Restorer> restorer_;          // while there is something to put back
};

}  // namespace koord::koordlet
