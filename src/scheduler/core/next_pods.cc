#include "scheduler/core/next_pods.h"

#include "base/string_map.h"

namespace koord::scheduler {

std::optional<QueuedPod> NextPods::Take() {
  if (plugins_.empty()) return queue_.Pop();
  for (NextPodPlugin* plugin : plugins_) {
    if (auto taken = Ask(*plugin)) return taken;
  }
  popped_ = queue_.Pop();
  return popped_;
}

std::optional<QueuedPod> NextPods::Ask(NextPodPlugin& plugin) {
  StringSet refused;
  for (;;) {
    const std::string uid = plugin.NextPod();
    if (uid.empty() || refused.contains(uid)) return {};  // who insists is not listened to
    const QueuedPod* const like = popped_ ? &*popped_ : nullptr;
    if (auto taken = queue_.Take(uid, like, plugin.name())) return taken;
    plugin.OnRefused(uid, queue_.HeldBy(uid, plugin.name()));
    refused.insert(uid);
  }
}

}  // namespace koord::scheduler
