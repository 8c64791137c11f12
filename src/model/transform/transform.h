#pragma once
#include <memory>
#include <string>
#include <vector>

#include "api/device.h"
#include "api/elastic_quota.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"

// How objects look to the scheduler. Applied to each object as it enters a cache, so that plugins
// need not know of names that earlier releases used, of resources that a node keeps for itself or
// of labels that overrule a pod's spec. The objects of the API stay as they are.
//
// An object that needs no change, which is nearly every one, comes back as the same pointer without
// being copied. What an object has wrong changes nothing for others: it is left out, and said.
namespace koord::model {

// Which of the optional changes are made to pods.
struct TransformOptions {
  bool replace_resources = false;
  bool priority = false;
  bool preemption_policy = false;
};

template <class T>
struct Transformed {
  std::shared_ptr<const T> object;
  std::vector<std::string> problems;  // for an event on the object
};

// In this order:
//   - batch and device resources get their present names, also in the device-allocated annotation;
//   - replace_resources: the replace-resources annotation renames and erases resources;
//   - priority: a pod without one gets the default of its class;
//   - preemption_policy: what the label says, or Never;
//   - the scheduler-name label replaces spec.schedulerName, which is kept in an annotation.
Transformed<kube::Pod> Transform(std::shared_ptr<const kube::Pod> pod,
                                 const TransformOptions& options);

// Allocatable without what the node keeps for itself (batch resources are what is left already, so
// they stay), then present names of resources in allocatable and capacity.
Transformed<kube::Node> Transform(std::shared_ptr<const kube::Node> node);

// Present names of resources.
Transformed<api::Device> Transform(std::shared_ptr<const api::Device> device);
Transformed<api::ElasticQuota> Transform(std::shared_ptr<const api::ElasticQuota> quota);

}  // namespace koord::model
