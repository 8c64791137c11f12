#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/device.h"
#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "api/node_slo.h"
#include "base/event_loop.h"
#include "kube/controller/informer_set.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"

namespace koord::koordlet {

struct KeptPod;

// What the cluster says about this node: the five objects of its name, and its pods where those are
// not the kubelet's to tell. Only these are watched, so that a thousand nodes cost the API server a
// thousand small watches and nothing more.
class NodeWatches {
 public:
  template <class T>
  using Ptr = std::shared_ptr<const T>;
  template <class T>
  using Listener = std::function<void(const Ptr<T>&)>;  // null: there is none

  // Of those that are null nothing is watched.
  struct Listeners {
    Listener<kube::Node> node;
    Listener<api::NodeSlo> slo;
    Listener<api::NodeMetric> metric;
    Listener<api::NodeResourceTopology> topology;
    Listener<api::Device> device;
    std::function<void(const std::vector<Ptr<kube::Pod>>&)> pods;
  };

  NodeWatches(kube::Client& client, const std::string& node, Listeners listeners, uint64_t seed);

  // Each listener hears what there is once all of its kind is known, also that there is nothing,
  // and then of every change.
  void Start() { informers_.Start(); }
  void Stop();
  bool synced() const { return informers_.synced(); }

 private:
  template <class T>
  void Watch(const kube::Resource& resource, Listener<T> listener);
  void WatchPods();
  void TellOfPodsSoon(const kube::Informer<KeptPod>& pods);
  void LeaveOutTooMany(std::vector<Ptr<kube::Pod>>& pods);

  const std::string node_;
  const std::function<void(const std::vector<Ptr<kube::Pod>>&)> pods_listener_;
  kube::InformerSet informers_;
  Timer pods_timer_;
  bool told_of_too_many_ = false;
};

}  // namespace koord::koordlet
