#pragma once
#include <functional>

#include "base/event_loop.h"
#include "koordlet/states/kubelet_client.h"
#include "kube/client/token_bucket.h"

namespace koord::koordlet {

// Asks the kubelet for its pods again and again, and at once when a pod's cgroup appears.
//
// An error or an empty list changes nothing: a kubelet that restarts must not make koordlet believe
// that the node is empty.
class KubeletPods {
 public:
  using Listener = std::function<void(const PodListReader::Pods&)>;

  KubeletPods(EventLoop& loop, KubeletClient& kubelet, Duration interval, Listener listener);

  void Start();
  void Stop();
  // A pod has appeared: do not wait for the next round. Many at once are one.
  void SyncSoon();

 private:
  void Sync();
  void OnPods(const StatusOr<PodListReader::Pods>& pods);

  KubeletClient& kubelet_;
  const Duration interval_;
  const Listener listener_;
  Timer timer_;
  kube::TokenBucket soon_;
  bool running_ = false;
  bool asking_ = false;
  bool again_ = false;  // something happened while it was asked
  Complaints complaints_;
};

}  // namespace koord::koordlet
