#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/device.h"
#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "api/node_slo.h"
#include "kube/client/informer.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"

namespace koord::koordlet {

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
  ~NodeWatches();

  // Each listener hears what there is once all of its kind is known, also that there is nothing,
  // and then of every change.
  void Start();
  void Stop();
  bool synced() const;

 private:
  class Watch;
  template <class T>
  class ObjectWatch;
  class PodWatch;

  std::vector<std::unique_ptr<Watch>> watches_;
};

}  // namespace koord::koordlet
