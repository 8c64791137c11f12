#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "scheduler/bench/core_driver.h"
#include "scheduler/framework/cluster_objects.h"

// The clusters and pods that schedulers are commonly measured with, named and shaped as in
// Kubernetes' own benchmark, and more where a scheduler that keeps what it has found out may fall
// off a cliff: many shapes, pods that fit nowhere, events while pods wait, and workloads in which
// what is known of one pod is worth nothing for the next.
namespace koord::scheduler {

struct Workload {
  std::string name;
  std::string description;
  size_t default_init_pods = 1000;
  size_t default_pods = 10000;
  std::function<kube::Node(size_t i)> node;
  std::function<kube::Pod(size_t i)> init_pod;  // placed before measuring
  std::function<kube::Pod(size_t i)> pod;       // measured
  // Pods that are promised the first nodes, one each, and never ask for them.
  size_t promised = 0;
  std::function<kube::Pod(size_t i)> promised_pod = {};
  // Whatever else the cluster has.
  std::function<void(ClusterObjects& objects, const std::vector<kube::Node>& nodes)> objects = {};
  // Those that hold room before anything is placed.
  size_t reservations = 0;
  std::function<api::Reservation(size_t i)> reservation = {};
  // Pods that are tried before measuring, fit nowhere, and wait.
  size_t waiting_pods = 0;
  std::function<kube::Pod(size_t i)> waiting_pod = {};
  // What is measured `default_pods` times, if it is not that pod(i) is placed: something happens,
  // and whoever may be tried because of it is tried.
  std::function<void(CoreDriver& driver, size_t i)> step = {};
  // Runs with NodeNUMAResource, and pods are reserved what it gives them.
  bool numa = false;
  // The same with DeviceShare.
  bool devices = false;
  // Runs with ElasticQuota.
  bool quotas = false;
};

const std::vector<Workload>& Workloads();
const Workload* FindWorkload(std::string_view name);

}  // namespace koord::scheduler
