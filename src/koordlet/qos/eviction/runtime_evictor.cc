#include "koordlet/qos/eviction/runtime_evictor.h"

#include "base/log.h"
#include "koordlet/qos/framework/node_inputs.h"

namespace koord::koordlet {
namespace {

const NodeContainer* FindContainer(const NodePod& pod, std::string_view name) {
  for (const NodeContainer& container : pod.containers) {
    if (!container.is_init && container.status != nullptr && container.status->name == name) {
      return &container;
    }
  }
  return nullptr;
}

}  // namespace

PodEvictor::Result RuntimeEvictor::Evict(const NodePod& pod, std::string_view reason,
                                         std::string_view message) {
  const std::string name = NameOf(pod);
  for (const kube::Container& spec : pod.pod->spec.containers) {
    const NodeContainer* container = FindContainer(pod, spec.name);
    if (container == nullptr || !container->is_running || container->id.empty()) break;
    stopper_.Stop(container->status->container_id, Duration(0),
                  [name, id = container->status->container_id](const Status& status) {
                    if (status.ok()) return;
                    LOG_WARNING("Failed to stop container", {"pod", name}, {"container", id},
                                {"err", status});
                  });
  }
  LOG_INFO("Killed pod's containers", {"pod", name}, {"message", message});
  record_.Add(*pod.pod, reason, message);
  return {.ok = true, .is_new = true};
}

}  // namespace koord::koordlet
