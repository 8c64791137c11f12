#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kube/json.h"
#include "kube/objects/pod.h"

// For tests: what the machines of a simulated cluster are made of, and that nobody gets of them
// what somebody else has.
namespace koord::localcluster::simulation {

inline constexpr char kTopologiesPath[] =
    "/apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies";

// Pods with CPUs of their own, with whole cores of their own, and from one NUMA node.
inline constexpr char kPinned[] = "pinned";
inline constexpr char kOnCores[] = "cores";
inline constexpr char kAligned[] = "aligned";

// Of two NUMA nodes with cores of two threads and a GiB for each CPU.
kube::Json TopologyOf(const std::string& node, int64_t cpus);
// What the kubelet says that it has given to pods; none: to nobody.
kube::Json KubeletPins(const std::string& cpus);

// Turns a pod into one of these; others stay as they are. `whole`: how many cores it asks for.
void MakeBound(kube::Json& pod, const std::string& app, int64_t whole);

// What is wrong with what a pod is bound with, given the other pods that hold room on its node.
std::vector<std::string> WrongHoldings(const kube::Pod& bound,
                                       const std::vector<const kube::Pod*>& others,
                                       int64_t cpus_of_node);

}  // namespace koord::localcluster::simulation
