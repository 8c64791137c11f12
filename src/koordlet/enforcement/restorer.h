#pragma once
#include <memory>

#include "base/event_loop.h"
#include "koordlet/hooks/runtime_hooks.h"
#include "koordlet/informers/node_state.h"
#include "koordlet/qos/qos_manager.h"
#include "koordlet/undo/undo_file.h"

namespace koord::koordlet {

// Gates of all that writes to the machine and that are on.
UndoFile::Features EnforcingFeatures(const FeatureGates& gates);

// Puts back what features did that were on when koordlet ran before and are switched off now, so
// that the machine is as the kubelet alone would leave it.
//
// The strategies and hooks themselves do it: they are shown a node on which nobody asks for
// anything. A few passes suffice, some seconds apart, since not everything may go at once.
class Restorer {
 public:
  // All of it outlives the restorer; of `context` and `hooks` everything but the state and the
  // gates is used.
  Restorer(EventLoop& loop, const NodeState& state, const UndoFile::Features& features,
           QosContext context, hooks::RuntimeHooks::Surroundings hooks,
           hooks::HookOptions hook_options);

  // `done` is called last, and may end the restorer.
  void Start(Task done);

 private:
  void Pass();
  void LookAtNode();

  EventLoop& loop_;
  const NodeState& real_;
  const CgroupLayout layout_;
  FeatureGates gates_;
  NodeState quiet_;
  std::unique_ptr<QosManager> strategies_;
  std::unique_ptr<hooks::RuntimeHooks> hooks_;
  Timer timer_;
  Task done_;
  int passes_ = 0;
};

}  // namespace koord::koordlet
