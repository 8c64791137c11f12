#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/priority.h"
#include "base/clock.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "scheduler/framework/cluster_objects.h"

// The cluster as lists, for the reference scheduler.
namespace koord::scheduler::reference {

// By name: cpu in milli-cores, everything else in whole units.
using Amounts = std::map<std::string, int64_t, std::less<>>;

int64_t AmountOf(const Amounts& amounts, std::string_view name);
// Of the resources that scheduling counts: cpu, memory, ephemeral storage and scalar ones.
Amounts CountedAmounts(const kube::ResourceList& list);
bool IsScalar(std::string_view resource);

struct PlainPod {
  std::shared_ptr<const kube::Pod> pod;
  Amounts requests;       // what it is charged
  Amounts spec_requests;  // without what its node has put into effect
  Amounts limits;         // of the spec
  api::PriorityBand band = api::PriorityBand::kNone;
  int64_t non_zero_cpu = 0;  // with 100m and 200Mi for containers that say nothing
  int64_t non_zero_memory = 0;
  bool is_reservation = false;  // it stands for one, with the pod's uid
  std::string draws_from;       // uid of a reservation; "" for none
  WallTime seen_at{};  // when it was given its node, or its spec or conditions changed last

  const kube::ObjectMeta& meta() const { return pod->metadata; }
  const kube::PodSpec& spec() const { return pod->spec; }
  int32_t priority() const { return pod->spec.priority.value_or(0); }
};
// `assigned`: it has a node, and what that has put into effect counts too.
PlainPod PlainPodOf(std::shared_ptr<const kube::Pod> pod, bool assigned, WallTime seen_at = {});

struct PlainNode {
  std::shared_ptr<const kube::Node> node;
  Amounts allocatable;
  int64_t allocatable_pods = 0;

  const std::string& name() const { return node->metadata.name; }
  const kube::Labels& labels() const { return node->metadata.labels; }
};
PlainNode PlainNodeOf(std::shared_ptr<const kube::Node> node);

// A pod without a node that is promised one.
struct Nomination {
  PlainPod pod;
  std::string node;
};

struct PlainCluster {
  explicit PlainCluster(const ClusterObjects& objects) : objects(objects) {}

  std::map<std::string, PlainNode, std::less<>> nodes;
  std::map<std::string, PlainPod, std::less<>> pods;           // by uid; spec.nodeName says where
  std::map<std::string, Nomination, std::less<>> nominations;  // by uid
  // Uids of pods that were evicted for others, which the watch does not show yet.
  std::set<std::string, std::less<>> evicted_unseen;
  // Uids of reservations that can be used once and were: they stay so.
  std::set<std::string, std::less<>> spent;
  const ClusterObjects& objects;
  // When the NodeMetric of a node said last that it was updated.
  std::map<std::string, WallTime, std::less<>> metric_updates;
  WallTime now{};
};

struct ReservationMatches;

// Who is where, as a filter is to see it: as it is, or with some pods gone or added. Pods whose
// node is gone count for nothing, as with kube-scheduler.
struct View {
  explicit View(const PlainCluster& cluster);

  const PlainCluster& cluster;
  std::map<std::string, std::vector<const PlainPod*>, std::less<>> pods_on;  // every node
  // Which reservations the pod that looks may use. Their reserve pods are not among the pods.
  std::shared_ptr<const ReservationMatches> reservations;

  const std::vector<const PlainPod*>& PodsOn(const PlainNode& node) const {
    return pods_on.at(node.name());
  }
};

// All of matchLabels and matchExpressions hold.
bool Matches(const kube::LabelSelector& selector, const kube::Labels& labels);

}  // namespace koord::scheduler::reference
