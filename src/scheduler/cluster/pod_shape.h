#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/priority.h"
#include "base/string_map.h"
#include "kube/objects/pod.h"
#include "scheduler/cluster/resource_names.h"

namespace koord::scheduler {

struct HostPort {
  std::string ip;  // "0.0.0.0": every address
  std::string protocol;
  int32_t port = 0;

  bool operator==(const HostPort&) const = default;
};

// Both cannot be used on one node.
bool Conflict(const HostPort& a, const HostPort& b);

// The ports of its node that a pod occupies: those of its containers and sidecars.
std::vector<HostPort> HostPortsOf(const kube::PodSpec& pod);

// Everything about a pod that decides where it may run and what it costs there. Pods of one
// workload share a shape, and with it whatever was computed for one of them.
//
// Of the sample only what is part of the shape may be read: namespace, labels, annotations of
// Koordinator's domains but for those that say what a pod was given (api/output_keys.h), its
// owners, and the spec without its node name, scheduling gates and volumes that do not bind a pod
// to nodes. Not its status (but the QoS class), and its name and uid only if the shape is named.
struct PodShape {
  uint32_t id = 0;     // of this run only; never reused
  bool named = false;  // of one pod alone, since somebody asks for that by name or uid
  std::shared_ptr<const kube::Pod> sample;

  ResourceHold names;           // of what it asks for
  ResourceAmounts requests;     // of the spec, without zeros
  ResourceAmounts limits;       // of the spec, without zeros
  int64_t non_zero_cpu = 0;     // with 100m for containers that do not say
  int64_t non_zero_memory = 0;  // with 200Mi
  int32_t priority = 0;
  api::PriorityBand band = api::PriorityBand::kNone;  // with the default that follows from QoS
  bool of_daemon_set = false;
  std::vector<HostPort> host_ports;
  bool has_pod_affinity = false;  // required or preferred terms of any kind
  bool has_required_anti_affinity = false;
  bool has_claims = false;  // volumes that are claims, of their own or of the pod

  const std::string& ns() const { return sample->metadata.ns; }
  const kube::Labels& labels() const { return sample->metadata.labels; }
  const kube::PodSpec& spec() const { return sample->spec; }
};

using ShapePtr = std::shared_ptr<const PodShape>;

// Finds the shape of a pod, or makes it. A shape that nobody holds any more is gone at once.
class ShapeTable {
 public:
  explicit ShapeTable(ResourceNames& resources);

  ShapePtr Of(const std::shared_ptr<const kube::Pod>& pod);
  size_t size() const;

  // From now on pods with this name, in any namespace, or this uid have shapes of their own: a
  // reservation may be for one pod of a workload alone. Counted: as often as it is named it must be
  // forgotten. Pods that have a shape already get another one when they are asked about next.
  void Name(std::string_view name_or_uid) { ++named_[std::string(name_or_uid)]; }
  void Forget(std::string_view name_or_uid);
  // Also the stand-ins of reservations that are placed over running pods: each is for others.
  bool IsNamed(const kube::Pod& pod) const;

 private:
  struct Index;
  struct Destroy;

  ResourceNames& resources_;
  StringMap<size_t> named_;
  std::shared_ptr<Index> index_;  // shared with the shapes, which may outlive the table
  uint32_t next_id_ = 1;
};

// Whether two pods that nobody has named have the same shape, and a number that is equal if they
// have.
bool SameShape(const kube::Pod& a, const kube::Pod& b);
uint64_t ShapeHash(const kube::Pod& pod);

}  // namespace koord::scheduler
