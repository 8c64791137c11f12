#include "scheduler/cluster/pod_shape.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>
#include <absl/hash/hash.h>

#include <algorithm>

#include "api/output_keys.h"
#include "kube/objects/pod_resources.h"
#include "scheduler/cluster/holdings.h"

namespace koord::scheduler {
namespace {

// Whether a volume can decide where a pod runs.
bool BindsToNodes(const kube::Volume& volume) {
  return volume.persistent_volume_claim || volume.ephemeral || volume.csi ||
         volume.gce_persistent_disk || volume.aws_elastic_block_store || volume.iscsi || volume.rbd;
}

bool HasEphemeralClaim(const kube::Pod& pod) {
  return std::ranges::any_of(
      pod.spec.volumes, [](const kube::Volume& volume) { return volume.ephemeral.has_value(); });
}

// Keys of Koordinator's own with which pods ask for something, and which its plugins read. Others
// (checksums, times, what a pod was given, which reservation it stands for, who uses it) differ
// between pods that are otherwise alike.
bool IsOurs(const std::pair<const std::string, std::string>& annotation) {
  return annotation.first.find("koordinator.sh/") != std::string::npos &&
         annotation.first != api::kAnnotationReservationName &&
         annotation.first != api::kAnnotationReservationCurrentOwner &&
         !api::IsOutputAnnotation(annotation.first);
}

// Whether two lists are equal but for what does not matter.
template <class List, class Matters>
bool SameWhere(Matters matters, const List& a, const List& b) {
  auto x = a.begin();
  auto y = b.begin();
  while (true) {
    x = std::find_if(x, a.end(), matters);
    y = std::find_if(y, b.end(), matters);
    if (x == a.end() || y == b.end()) return x == a.end() && y == b.end();
    if (!(*x++ == *y++)) return false;
  }
}

bool IsOfDaemonSet(const kube::Pod& pod) {
  return std::ranges::any_of(pod.metadata.owner_references, [](const kube::OwnerReference& owner) {
    return owner.kind == "DaemonSet";
  });
}

bool SameOwners(const kube::Pod& a, const kube::Pod& b) {
  return a.metadata.owner_references == b.metadata.owner_references;
}

bool SameContainers(const std::vector<kube::Container>& a, const std::vector<kube::Container>& b) {
  return std::ranges::equal(a, b, [](const kube::Container& x, const kube::Container& y) {
    return x.image == y.image && x.restart_policy == y.restart_policy &&
           x.resources == y.resources && x.ports == y.ports;
  });
}

bool SameVolumes(const kube::Pod& a, const kube::Pod& b) {
  if (a.spec.volumes.empty() && b.spec.volumes.empty()) return true;
  // The claim of an ephemeral volume is named after its pod.
  if ((HasEphemeralClaim(a) || HasEphemeralClaim(b)) && a.metadata.name != b.metadata.name) {
    return false;
  }
  return SameWhere(BindsToNodes, a.spec.volumes, b.spec.volumes);
}

class Hasher {
 public:
  void Add(std::string_view text) {
    value_ = absl::HashOf(value_, std::hash<std::string_view>{}(text));
  }
  void Add(int64_t number) { value_ = absl::HashOf(value_, number); }
  void Add(const kube::ResourceList& list) {
    for (const auto& [name, amount] : list) {
      Add(name);
      Add(amount.MilliValue());
    }
  }
  void Add(const kube::Labels& labels) {
    for (const auto& [key, value] : labels) {
      Add(key);
      Add(value);
    }
  }
  void Add(const kube::Toleration& toleration) {
    Add(toleration.key);
    Add(toleration.value);
  }
  void Add(const kube::NodeSelectorTerm& term) {
    for (const auto* list : {&term.match_expressions, &term.match_fields}) {
      for (const kube::NodeSelectorRequirement& each : *list) {
        Add(each.key);
        Add(each.op);
        for (const std::string& value : each.values) Add(value);
      }
    }
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
};

void HashContainers(Hasher& hash, const std::vector<kube::Container>& containers) {
  for (const kube::Container& container : containers) {
    hash.Add(container.image);
    hash.Add(container.resources.requests);
    hash.Add(container.resources.limits);
    for (const kube::ContainerPort& port : container.ports) hash.Add(port.host_port);
  }
}

// What pods of different workloads differ in most often, so that a bucket has few shapes.
void HashAffinity(Hasher& hash, const kube::Affinity& affinity) {
  for (const auto* terms : {&affinity.pod_affinity, &affinity.pod_anti_affinity}) {
    if (!terms->has_value()) continue;
    for (const auto& term : (*terms)->required) hash.Add(term.topology_key);
    for (const auto& each : (*terms)->preferred) hash.Add(each.pod_affinity_term.topology_key);
  }
  // Pods of a DaemonSet differ in nothing else.
  if (!affinity.node_affinity || !affinity.node_affinity->required) return;
  for (const auto& term : affinity.node_affinity->required->node_selector_terms) hash.Add(term);
}

void DescribeAffinity(PodShape& shape, const kube::PodSpec& pod) {
  if (!pod.affinity) return;
  for (const auto* terms : {&pod.affinity->pod_affinity, &pod.affinity->pod_anti_affinity}) {
    if (!terms->has_value()) continue;
    shape.has_pod_affinity |= !(*terms)->required.empty() || !(*terms)->preferred.empty();
  }
  const auto& anti = pod.affinity->pod_anti_affinity;
  shape.has_required_anti_affinity = anti.has_value() && !anti->required.empty();
}

PodShape Describe(const std::shared_ptr<const kube::Pod>& pod, ResourceNames& resources) {
  ResourceHold names;
  const auto without_zeros = [&](const kube::ResourceList& list) {
    ResourceAmounts amounts = resources.AmountsIn(list, names);
    DropZeros(amounts);
    return amounts;
  };
  const kube::ResourceList non_zero = kube::NonZeroPodRequests(*pod);
  PodShape shape{.sample = pod,
                 .requests = without_zeros(kube::PodRequests(*pod)),
                 .limits = without_zeros(kube::PodLimits(*pod)),
                 .non_zero_cpu = kube::AmountOf(non_zero, kube::kCpu).MilliValue(),
                 .non_zero_memory = kube::AmountOf(non_zero, kube::kMemory).Value(),
                 .priority = pod->spec.priority.value_or(0),
                 .band = api::PriorityBandOf(*pod),
                 .of_daemon_set = IsOfDaemonSet(*pod),
                 .host_ports = HostPortsOf(pod->spec)};
  shape.names = std::move(names);
  DescribeAffinity(shape, pod->spec);
  shape.has_claims = std::ranges::any_of(pod->spec.volumes, [](const kube::Volume& volume) {
    return volume.persistent_volume_claim || volume.ephemeral;
  });
  return shape;
}

}  // namespace

bool Conflict(const HostPort& a, const HostPort& b) {
  constexpr std::string_view kEvery = "0.0.0.0";
  return a.port == b.port && a.protocol == b.protocol &&
         (a.ip == b.ip || a.ip == kEvery || b.ip == kEvery);
}

std::vector<HostPort> HostPortsOf(const kube::PodSpec& pod) {
  std::vector<HostPort> ports;
  const auto add = [&](const kube::Container& container) {
    for (const kube::ContainerPort& port : container.ports) {
      if (port.host_port <= 0) continue;
      ports.push_back({port.host_ip.empty() ? "0.0.0.0" : port.host_ip,
                       port.protocol.empty() ? "TCP" : port.protocol, port.host_port});
    }
  };
  std::ranges::for_each(pod.containers, add);
  for (const kube::Container& container : pod.init_containers) {
    if (IsSidecar(container)) add(container);
  }
  return ports;
}

bool SameShape(const kube::Pod& a, const kube::Pod& b) {
  if (&a == &b) return true;
  const kube::PodSpec& x = a.spec;
  const kube::PodSpec& y = b.spec;
  return a.metadata.ns == b.metadata.ns && a.metadata.labels == b.metadata.labels &&
         x.priority == y.priority && x.scheduler_name == y.scheduler_name &&
         SameContainers(x.containers, y.containers) &&
         SameContainers(x.init_containers, y.init_containers) &&
         x.node_selector == y.node_selector && x.affinity == y.affinity &&
         x.tolerations == y.tolerations && x.overhead == y.overhead &&
         x.preemption_policy == y.preemption_policy &&
         x.topology_spread_constraints == y.topology_spread_constraints &&
         x.resource_claims == y.resource_claims && x.resources == y.resources &&
         SameVolumes(a, b) && SameOwners(a, b) && a.status.qos_class == b.status.qos_class &&
         SameWhere(IsOurs, a.metadata.annotations, b.metadata.annotations);
}

uint64_t ShapeHash(const kube::Pod& pod) {
  Hasher hash;
  hash.Add(pod.metadata.ns);
  hash.Add(pod.metadata.labels);
  hash.Add(pod.spec.priority.value_or(0));
  hash.Add(pod.spec.scheduler_name);
  HashContainers(hash, pod.spec.containers);
  HashContainers(hash, pod.spec.init_containers);
  hash.Add(pod.spec.node_selector);
  if (pod.spec.affinity) HashAffinity(hash, *pod.spec.affinity);
  for (const auto& constraint : pod.spec.topology_spread_constraints) {
    hash.Add(constraint.topology_key);
  }
  for (const kube::Toleration& toleration : pod.spec.tolerations) hash.Add(toleration);
  for (const kube::Volume& volume : pod.spec.volumes) {
    if (volume.persistent_volume_claim) hash.Add(volume.persistent_volume_claim->claim_name);
  }
  if (HasEphemeralClaim(pod)) hash.Add(pod.metadata.name);
  for (const auto& annotation : pod.metadata.annotations) {
    if (!IsOurs(annotation)) continue;
    hash.Add(annotation.first);
    hash.Add(annotation.second);
  }
  return hash.value();
}

// The shapes that there are, by hash; different ones with the same hash stand in one bucket.
struct ShapeTable::Index {
  using Bucket = absl::InlinedVector<std::weak_ptr<const PodShape>, 1>;

  absl::flat_hash_map<uint64_t, Bucket> buckets;
  size_t shapes = 0;
};

struct ShapeTable::Destroy {
  std::shared_ptr<Index> index;
  uint64_t hash;

  void operator()(const PodShape* shape) const {
    const auto found = index->buckets.find(hash);
    Index::Bucket& bucket = found->second;
    const auto gone = [](const auto& each) { return each.expired(); };
    bucket.erase(std::find_if(bucket.begin(), bucket.end(), gone));
    if (bucket.empty()) index->buckets.erase(found);
    --index->shapes;
    delete shape;
  }
};

ShapeTable::ShapeTable(ResourceNames& resources)
    : resources_(resources), index_(std::make_shared<Index>()) {}

size_t ShapeTable::size() const { return index_->shapes; }

void ShapeTable::Forget(std::string_view name_or_uid) {
  const auto found = named_.find(name_or_uid);
  if (found != named_.end() && --found->second == 0) named_.erase(found);
}

bool ShapeTable::IsNamed(const kube::Pod& pod) const {
  if (!named_.empty() &&
      (named_.contains(pod.metadata.name) || named_.contains(pod.metadata.uid))) {
    return true;
  }
  return IsReservePod(pod) &&
         kube::FindValue(pod.metadata.annotations, api::kAnnotationIsPreAllocation) != nullptr;
}

ShapePtr ShapeTable::Of(const std::shared_ptr<const kube::Pod>& pod) {
  const bool named = IsNamed(*pod);
  uint64_t hash = ShapeHash(*pod);
  if (named) hash = absl::HashOf(hash, pod->metadata.uid);
  const auto is_same = [&](const PodShape& shape) {
    if (shape.named != named) return false;
    if (named && shape.sample->metadata.uid != pod->metadata.uid) return false;
    return SameShape(*shape.sample, *pod);
  };
  Index::Bucket& bucket = index_->buckets[hash];
  for (const auto& each : bucket) {
    if (ShapePtr shape = each.lock(); shape && is_same(*shape)) return shape;
  }
  auto made = std::make_unique<PodShape>(Describe(pod, resources_));
  made->id = next_id_++;
  made->named = named;
  ShapePtr shape(made.release(), Destroy{index_, hash});
  bucket.push_back(shape);
  ++index_->shapes;
  return shape;
}

}  // namespace koord::scheduler
