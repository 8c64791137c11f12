#pragma once
#include <functional>

#include "base/event_loop.h"
#include "koordlet/informers/kubelet_client.h"
#include "kube/client/token_bucket.h"

namespace koord::koordlet {

// Asks the kubelet for its pods again and again, and at once when a pod's cgroup appears.
//
// An error or an empty list changes nothing: a kubelet that restarts must not make koordlet believe
// that the node is empty.
class KubeletPods {
 public:
  using Listener = std::function<void(const PodList::Pods&)>;
  // The kubelet's certificate was refused: it is not asked any more.
  using Untrusted = std::function<void(const Status& why)>;

  KubeletPods(EventLoop& loop, KubeletClient& kubelet, Duration interval, Listener listener,
              Untrusted untrusted);

  void Start();
  void Stop();
  // A pod has appeared: do not wait for the next round. Many at once are one.
  void SyncSoon();

 private:
  void Sync();
  void OnPods(const StatusOr<PodList>& list);

  KubeletClient& kubelet_;
  const Duration interval_;
  const Listener listener_;
  Untrusted untrusted_;  // null: was told
  Timer timer_;
  kube::TokenBucket soon_;
  bool running_ = false;
  bool asking_ = false;
  bool again_ = false;  // something happened while it was asked
  KnownProblems known_problems_;
};

}  // namespace koord::koordlet
