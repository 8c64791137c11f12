#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "scheduler/framework/cluster_objects.h"

// The clusters and pods that schedulers are commonly measured with, named and shaped as in
// Kubernetes' own benchmark, and two more: `diverse`, in which no pod is like another, and
// `loadaware`, in which nodes report their usage.
namespace koord::scheduler {

struct Workload {
  std::string name;
  std::string description;
  size_t default_init_pods = 1000;
  size_t default_pods = 10000;
  std::function<kube::Node(size_t i)> node;
  std::function<kube::Pod(size_t i)> init_pod;  // placed before measuring
  std::function<kube::Pod(size_t i)> pod;       // measured
  // Whatever else the cluster has.
  std::function<void(ClusterObjects& objects, const std::vector<kube::Node>& nodes)> objects = {};
};

const std::vector<Workload>& Workloads();
const Workload* FindWorkload(std::string_view name);

}  // namespace koord::scheduler
