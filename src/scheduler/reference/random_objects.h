#pragma once
#include <memory>
#include <string>

#include "api/node_metric.h"
#include "api/reservation.h"
#include "base/clock.h"
#include "base/random.h"
#include "kube/objects/namespace.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/objects/policy.h"
#include "kube/objects/service.h"
#include "kube/objects/workloads.h"
#include "scheduler/framework/cluster_objects.h"

// Objects that meet each other: few names, few values, and amounts that add up to exactly what fits
// every now and then.
namespace koord::scheduler::reference {

inline constexpr int kNodeNames = 12;  // node-0 to node-11
inline constexpr const char* kHostname = "kubernetes.io/hostname";
inline constexpr const char* kZone = "topology.kubernetes.io/zone";

// What the pods and nodes of one cluster have more or less of: how likely it is.
struct Flavor {
  double node_affinity = 0.2;
  double pod_affinity = 0.25;
  double spread = 0.2;
  double ports = 0.12;
  double volumes = 0.12;
  double taints = 0.2;
  bool reservations = false;
  bool roomy = false;  // little is asked for, and nodes are large
};
Flavor RandomFlavor(Random& random);

std::string RandomNodeName(Random& random);
kube::Node RandomNode(Random& random, const Flavor& flavor, std::string name);
// Without name, uid and node.
kube::Pod RandomPod(Random& random, const Flavor& flavor, WallTime now);
// What becomes of a pod that has a node: a start, conditions, at times its end.
void Settle(kube::Pod& pod, Random& random, WallTime now);
kube::Labels RandomPodLabels(Random& random);
kube::LabelSelector RandomSelector(Random& random);

kube::Namespace RandomNamespace(Random& random);
kube::Service RandomService(Random& random);
kube::ReplicaSet RandomReplicaSet(Random& random);
kube::StatefulSet RandomStatefulSet(Random& random);
kube::ReplicationController RandomReplicationController(Random& random);
kube::PodDisruptionBudget RandomBudget(Random& random, const std::string& pod_name);
// `pods`: those that it may report, by chance.
api::NodeMetric RandomMetric(Random& random, const std::string& node,
                             const std::vector<const kube::Pod*>& pods, WallTime now);

// A disk or a claim.
void AddVolumes(kube::Pod& pod, Random& random);
// A claim, a volume, a class, or what drivers say.
void SetRandomVolumeObject(ClusterObjects& objects, Random& random, WallTime now);

// Which reservations a pod wants, if any; perhaps the one of this name.
void WishForReservations(kube::Pod& pod, Random& random, const std::string& name);
// For pods like this one, without name and uid, that waits for a node.
api::Reservation RandomReservation(Random& random, kube::Pod like, WallTime now);
// It holds what it asks for, or about that.
void MakeAvailable(api::Reservation& reservation, Random& random, const std::string& node);

// A KubeSchedulerConfiguration with one profile.
std::string RandomConfiguration(Random& random, bool reservations);

}  // namespace koord::scheduler::reference
