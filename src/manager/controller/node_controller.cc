#include "manager/controller/node_controller.h"

namespace koord::manager {
namespace {

constexpr int kConcurrency = 32;

}  // namespace

NodeController::NodeController(const std::string& name, ManagerContext& context)
    : Controller(name, {context.client, context.informers, context.recorders.For(name)},
                 {.concurrency = kConcurrency, .by_leadership = true}),
      context_(context) {
  context.config.OnChange(scope().Wrap([this] { EnqueueAll(); }));
}

std::vector<std::string> NodeController::AllKeys() const {
  std::vector<std::string> names;
  for (const auto& node : informers().nodes.List()) names.push_back(node->metadata.name);
  return names;
}

}  // namespace koord::manager
