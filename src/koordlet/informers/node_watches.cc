#include "koordlet/informers/node_watches.h"

#include <utility>

#include "api/resources.h"
#include "base/log.h"
#include "koordlet/informers/kept_pod.h"
#include "koordlet/informers/pod_list.h"
#include "kube/resources.h"

namespace koord::koordlet {
namespace {

// A page is in memory as a whole, and each pod of it may have a megabyte.
constexpr int kPodPage = 8;

kube::InformerOptions Selecting(std::string field_selector) {
  kube::InformerOptions options;
  options.field_selector = std::move(field_selector);
  options.resync = std::chrono::hours(12);
  return options;
}

}  // namespace

NodeWatches::NodeWatches(kube::Client& client, const std::string& node, Listeners listeners,
                         uint64_t seed)
    : node_(node),
      pods_listener_(std::move(listeners.pods)),
      informers_(client, {.seed = seed}),
      pods_timer_(client.loop()) {
  Watch(kube::kNodes, std::move(listeners.node));
  Watch(api::kNodeSlos, std::move(listeners.slo));
  Watch(api::kNodeMetrics, std::move(listeners.metric));
  Watch(api::kNodeResourceTopologies, std::move(listeners.topology));
  Watch(api::kDevices, std::move(listeners.device));
  if (pods_listener_) WatchPods();
}

void NodeWatches::Stop() {
  pods_timer_.Cancel();
  informers_.Stop();
}

template <class T>
void NodeWatches::Watch(const kube::Resource& resource, Listener<T> listener) {
  if (!listener) return;
  auto& objects = informers_.Use<T>(resource, Selecting("metadata.name=" + node_));
  objects.AddHandler([this, &objects, listener](const Ptr<T>& before, const Ptr<T>& after) {
    const Ptr<T>& either = after != nullptr ? after : before;
    if (either->metadata.name == node_ && objects.synced()) listener(after);
  });
  objects.WhenSynced([this, &objects, listener = std::move(listener)] {
    listener(objects.Get({"", node_}));
  });
}

void NodeWatches::WatchPods() {
  kube::InformerOptions options = Selecting("spec.nodeName=" + node_);
  options.page_size = kPodPage;
  auto& pods = informers_.Use<KeptPod>(kube::kPods, std::move(options));
  pods.AddHandler([this, &pods](const auto&, const auto&) { TellOfPodsSoon(pods); });
  pods.WhenSynced([this, &pods] { TellOfPodsSoon(pods); });
}

// Many changes at once are one.
void NodeWatches::TellOfPodsSoon(const kube::Informer<KeptPod>& pods) {
  if (!pods.synced() || pods_timer_.pending()) return;
  pods_timer_.Set(Duration::zero(), [this, &pods] {
    std::vector<Ptr<kube::Pod>> running;
    for (Ptr<KeptPod>& pod : pods.List()) {
      if (pod->spec.node_name == node_ && !kube::IsTerminal(*pod))
        running.push_back(std::move(pod));
    }
    LeaveOutTooMany(running);
    pods_listener_(running);
  });
}

void NodeWatches::LeaveOutTooMany(std::vector<Ptr<kube::Pod>>& pods) {
  if (pods.size() <= PodListReader::kMaxPods) return;
  pods.resize(PodListReader::kMaxPods);
  if (std::exchange(told_of_too_many_, true)) return;
  LOG_ERROR("The API server tells of more pods of this node than are looked at",
            {"limit", PodListReader::kMaxPods});
}

}  // namespace koord::koordlet
