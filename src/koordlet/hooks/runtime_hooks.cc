#include "koordlet/hooks/runtime_hooks.h"

#include <utility>

namespace koord::koordlet::hooks {

RuntimeHooks::RuntimeHooks(const Surroundings& surroundings, HookOptions options)
    : options_(std::move(options)),
      state_(surroundings.state),
      loop_(surroundings.loop),
      env_{.host = surroundings.host,
           .executor = surroundings.executor,
           .state = surroundings.state,
           .clock = surroundings.loop.clock(),
           .gates = surroundings.gates,
           .registry = surroundings.registry,
           .problems = problems_,
           .options = options_,
           .undo = surroundings.undo != nullptr ? *surroundings.undo : own_undo_,
           .record_event = surroundings.record_event,
           .recreate_directory = surroundings.recreate_directory},
      runner_(env_, MakePlugins(env_, surroundings.tools)),
      reconciler_(runner_),
      timer_(surroundings.loop) {}

void RuntimeHooks::Start() {
  using Part = NodeState::Part;
  for (const Part part : {Part::kSlo, Part::kPods, Part::kTopology, Part::kNode}) {
    state_.Subscribe(part, [this, part, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) OnPart(part);
    });
  }
  OnPart(Part::kSlo);
  OnPart(Part::kPods);
  timer_.Set(options_.reconcile_interval, [this] { OnInterval(); });
}

// What changes together is looked at once.
void RuntimeHooks::OnPart(NodeState::Part part) {
  (part == NodeState::Part::kPods ? has_new_pods_ : has_new_rules_) = true;
  if (std::exchange(is_posted_, true)) return;
  loop_.Post([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) CatchUp();
  });
}

void RuntimeHooks::CatchUp() {
  is_posted_ = false;
  const bool rules = std::exchange(has_new_rules_, false);
  const bool pods = std::exchange(has_new_pods_, false);
  if (rules && reconciler_.OnStateChange()) return;  // has looked at all pods
  if (rules) reconciler_.ReconcileDirs();
  if (pods) reconciler_.ReconcilePods();
}

void RuntimeHooks::OnInterval() {
  reconciler_.ReconcileDirs();
  timer_.Set(options_.reconcile_interval, [this] { OnInterval(); });
}

void RuntimeHooks::RunOnce() {
  if (reconciler_.OnStateChange()) return;
  reconciler_.ReconcileDirs();
  reconciler_.ReconcilePods();
}

}  // namespace koord::koordlet::hooks
