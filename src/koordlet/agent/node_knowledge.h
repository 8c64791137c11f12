#pragma once
#include <memory>

#include "api/device.h"
#include "api/node_slo.h"
#include "base/event_loop.h"
#include "base/known_problems.h"
#include "base/metrics/metrics.h"
#include "koordlet/agent/koordlet_options.h"
#include "koordlet/informers/kubelet_client.h"
#include "koordlet/informers/node_state.h"
#include "koordlet/informers/pod_book.h"
#include "koordlet/informers/pod_source.h"
#include "koordlet/metrics/node_info.h"
#include "kube/client/client.h"
#include "kube/objects/node.h"

namespace koord::koordlet {

// What koordlet knows of its node. What the cluster and the kubelet say becomes a NodeState that
// the rest may rely on: a NodeSLO over its defaults, pods within what the node grants them.
class NodeKnowledge {
 public:
  // All of it outlives this.
  struct Sources {
    kube::Client& client;
    const CgroupLayout& layout;
    const NodeInfoCache& info;         // the machine's processors
    KubeletClient* kubelet = nullptr;  // null: pods are told by SetPods alone
  };

  NodeKnowledge(EventLoop& loop, const Sources& sources, const KoordletOptions& options,
                metrics::Registry& registry, uint64_t seed);

  // News of the node's objects; null: there is none (any more).
  void SetNode(std::shared_ptr<const kube::Node> node);
  void SetSlo(const std::shared_ptr<const api::NodeSlo>& slo);
  void SetDevice(std::shared_ptr<const api::Device> device) { state_.SetDevice(std::move(device)); }
  // All pods of the node.
  void SetPods(const PodList::Pods& pods) { state_.SetPods(pods_.Update(pods)); }

  // The Node and its pods are there, and it was heard whether there is a NodeSLO.
  bool complete() const;
  // A pod has appeared: if it is the kubelet who tells of pods, it is asked soon.
  void AskForPodsSoon();

  // What the node grants to pods follows from its processors and its strategy: looks at them now,
  // or from now on.
  void UpdateBounds();
  void KeepBounds();

  void Stop();

  NodeState& state() { return state_; }

 private:
  const Sources sources_;
  const KoordletOptions& options_;
  NodeState state_;
  PodBook pods_;
  KnownProblems slo_problems_;
  bool slo_known_ = false;                 // whether there is one was heard
  std::unique_ptr<PodSource> pod_source_;  // null: others tell of pods
  Timer bounds_timer_;
};

}  // namespace koord::koordlet
