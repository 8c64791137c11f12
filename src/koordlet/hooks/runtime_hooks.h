#pragma once
#include <memory>

#include "base/event_loop.h"
#include "koordlet/hooks/engine/hook_runner.h"
#include "koordlet/hooks/engine/reconciler.h"
#include "koordlet/hooks/registry.h"

namespace koord::koordlet::hooks {

// The runtime hooks of a node: its plugins, and the reconciler that keeps cgroups as they say. The
// hook server and NRI work with the same plugins through runner().
class RuntimeHooks {
 public:
  // All of it outlives the hooks.
  struct Surroundings {
    Host& host;
    ResourceExecutor& executor;
    NodeState& state;
    EventLoop& loop;
    const FeatureGates& gates;
    metrics::Registry& registry;
    HookTools tools = {};
    UndoFile* undo = nullptr;  // null: what was before is not known after a restart
    decltype(HookEnv::record_event) record_event = nullptr;
    decltype(HookEnv::recreate_directory) recreate_directory = nullptr;
  };

  RuntimeHooks(const Surroundings& surroundings, HookOptions options);
  RuntimeHooks(const RuntimeHooks&) = delete;
  RuntimeHooks& operator=(const RuntimeHooks&) = delete;

  // From now on follows what is known of the node.
  void Start();
  // One look at everything.
  void RunOnce();

  HookRunner& runner() { return runner_; }

 private:
  void OnPart(NodeState::Part part);
  void CatchUp();
  void OnInterval();

  const HookOptions options_;
  NodeState& state_;
  EventLoop& loop_;
  ProblemLog problems_{"RuntimeHooks"};
  UndoFile own_undo_;
  const HookEnv env_;
  HookRunner runner_;
  Reconciler reconciler_;
  Timer timer_;
  bool has_new_pods_ = false;
  bool has_new_rules_ = false;
  bool is_posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace koord::koordlet::hooks
