#pragma once
#include <memory>
#include <string>

#include "koordlet/informers/kubelet_pods.h"
#include "koordlet/informers/node_watches.h"
#include "kube/client/client.h"

namespace koord::koordlet {

// Where the node's pods come from: its kubelet, as long as that is the one whom it says it is.
//
// Many clusters let kubelets sign their own certificates, which nobody can check. Then pods are
// watched in the API server, which also passes on the kubelet's configuration, and the log says
// once what to do about it.
class PodSource {
 public:
  // Told of all pods, again and again.
  PodSource(EventLoop& loop, kube::Client& client, const std::string& node, KubeletClient& kubelet,
            Duration interval, KubeletPods::Listener listener, uint64_t seed);

  void Start();  // once it is known where the kubelet is; harmless afterwards
  void Stop();
  // A pod has appeared: do not wait for the next round.
  void SyncSoon() { kubelet_pods_.SyncSoon(); }

 private:
  void WatchInstead(const Status& why);

  kube::Client& client_;
  const std::string node_;
  KubeletClient& kubelet_;
  const KubeletPods::Listener listener_;
  const uint64_t seed_;
  KubeletPods kubelet_pods_;
  std::unique_ptr<NodeWatches> watch_;  // null: the kubelet is asked
  bool is_stopped_ = false;
};

}  // namespace koord::koordlet
