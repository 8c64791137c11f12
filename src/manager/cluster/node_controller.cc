#include "manager/cluster/node_controller.h"

namespace koord::manager {

NodeController::NodeController(ManagerContext& context, int concurrency)
    : context_(context),
      queue_(
          context.loop(),
          [this](const std::string& node, kube::WorkQueue::Finish done) {
            if (!active_) return done(true);
            Reconcile(node, std::move(done));
          },
          concurrency) {
  context.config.OnChange(scope_.Wrap([this] { EnqueueAll(); }));
}

void NodeController::Start() {
  active_ = true;
  EnqueueAll();
  for (const std::string& name : Others()) Enqueue(name);
}

void NodeController::Enqueue(const std::string& node) {
  if (active_) queue_.Add(node);
}

void NodeController::EnqueueAfter(const std::string& node, Duration delay) {
  if (active_) queue_.AddAfter(node, delay);
}

void NodeController::EnqueueAll() {
  if (!active_) return;
  for (const auto& node : informers().nodes.List()) queue_.Add(node->metadata.name);
}

}  // namespace koord::manager
