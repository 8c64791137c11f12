#include "scheduler/plugins/volume_binding/claim_plan.h"

#include <algorithm>

#include "scheduler/volumes/pod_claims.h"

namespace koord::scheduler {
namespace {

NodeMatcher Everywhere(const NodeTable& nodes) { return NodeMatcher(nodes, {}, nullptr); }
NodeMatcher Where(const NodeTable& nodes, const kube::NodeSelector& selector) {
  return NodeMatcher(nodes, {}, &selector);
}

// How a volume and a claim stand to each other.
enum class Relation { kNone, kFits, kOwn };

Relation RelationOf(const kube::PersistentVolume& volume, const kube::PersistentVolumeClaim& claim,
                    const AssumedVolumes& assumed) {
  const kube::ObjectKey* promised = assumed.ClaimOf(volume.metadata.name);
  const bool own =
      promised != nullptr ? *promised == KeyOf(claim.metadata) : IsBoundTo(volume, claim);
  if (!own && (promised != nullptr || volume.spec.claim_ref)) return Relation::kNone;
  if (IsBeingDeleted(volume.metadata) || !SameMode(volume, claim) || !HasRoom(volume, claim)) {
    return Relation::kNone;
  }
  if (own) return Relation::kOwn;
  const bool fits = volume.status.phase == "Available" && ClassOf(volume) == ClassOf(claim) &&
                    AllowsAccess(volume, claim) && IsSelected(volume, claim);
  return fits ? Relation::kFits : Relation::kNone;
}

std::vector<ClaimPlan::Candidate> CandidatesFor(const kube::PersistentVolumeClaim& claim,
                                                const NodeTable& nodes,
                                                const ClusterObjects& objects,
                                                const AssumedVolumes& assumed) {
  std::vector<const kube::PersistentVolume*> fitting;
  for (const auto& [key, volume] : objects.persistent_volumes.objects()) {
    const Relation relation = RelationOf(*volume, claim, assumed);
    if (relation == Relation::kNone) continue;
    if (relation == Relation::kOwn) {
      fitting = {volume.get()};
      break;
    }
    fitting.push_back(volume.get());
  }
  std::ranges::stable_sort(fitting, {}, [](const kube::PersistentVolume* volume) {
    return kube::AmountOf(volume->spec.capacity, kube::kStorage);
  });
  std::vector<ClaimPlan::Candidate> candidates;
  for (const kube::PersistentVolume* volume : fitting) {
    candidates.push_back({volume->metadata.name, NodeMatcher(nodes, {}, NodesOf(*volume))});
  }
  return candidates;
}

kube::NodeSelector SelectorOf(const std::vector<kube::TopologySelectorTerm>& topologies) {
  kube::NodeSelector selector;
  for (const kube::TopologySelectorTerm& each : topologies) {
    kube::NodeSelectorTerm& term = selector.node_selector_terms.emplace_back();
    for (const kube::TopologySelectorRequirement& label : each.match_label_expressions) {
      term.match_expressions.push_back({label.key, "In", label.values});
    }
  }
  return selector;
}

kube::NodeSelectorTerm TermOf(const kube::LabelSelector& selector) {
  kube::NodeSelectorTerm term;
  for (const auto& [key, value] : selector.match_labels) {
    term.match_expressions.push_back({key, "In", {value}});
  }
  for (const kube::LabelSelectorRequirement& each : selector.match_expressions) {
    term.match_expressions.push_back({each.key, each.op, each.values});
  }
  return term;
}

// Where the driver reports room for a volume of this size, if it reports at all.
NodeMatcher RoomyNodes(const kube::StorageClass& storage_class, const kube::Quantity& request,
                       const NodeTable& nodes, const ClusterObjects& objects) {
  const kube::CsiDriver* driver = objects.csi_drivers.Find(storage_class.provisioner);
  if (driver == nullptr || !driver->spec.storage_capacity.value_or(false)) {
    return Everywhere(nodes);
  }
  kube::NodeSelector selector;
  for (const auto& [key, capacity] : objects.csi_storage_capacities.objects()) {
    if (capacity->storage_class_name != storage_class.metadata.name || !capacity->node_topology) {
      continue;
    }
    const auto& most =
        capacity->maximum_volume_size ? capacity->maximum_volume_size : capacity->capacity;
    if (!most || *most < request) continue;
    kube::NodeSelectorTerm term = TermOf(*capacity->node_topology);
    if (term.match_expressions.empty()) return Everywhere(nodes);
    selector.node_selector_terms.push_back(std::move(term));
  }
  return Where(nodes, selector);
}

}  // namespace

const kube::NodeSelector* NodesOf(const kube::PersistentVolume& volume) {
  const auto& affinity = volume.spec.node_affinity;
  return affinity && affinity->required ? &*affinity->required : nullptr;
}

ClaimPlan PlanFor(const kube::PersistentVolumeClaim& claim, const NodeTable& nodes,
                  const ClusterObjects& objects, const AssumedVolumes& assumed) {
  ClaimPlan plan{.claim = KeyOf(claim.metadata),
                 .request = kube::AmountOf(claim.spec.resources.requests, kube::kStorage),
                 .allowed = Everywhere(nodes),
                 .roomy = Everywhere(nodes)};
  if (const std::string* node = assumed.NodeOf(plan.claim)) {
    plan.selected_node = *node;
  } else {
    plan.selected_node = kube::ValueOf(claim.metadata.annotations, kube::kAnnotationSelectedNode);
  }
  if (plan.selected_node.empty()) plan.candidates = CandidatesFor(claim, nodes, objects, assumed);
  const kube::StorageClass* storage_class = objects.storage_classes.Find(ClassOf(claim));
  if (storage_class == nullptr || storage_class->provisioner.empty() ||
      storage_class->provisioner == kube::kNoProvisioner) {
    return plan;
  }
  plan.can_provision = true;
  if (!storage_class->allowed_topologies.empty()) {
    plan.allowed = Where(nodes, SelectorOf(storage_class->allowed_topologies));
  }
  plan.roomy = RoomyNodes(*storage_class, plan.request, nodes, objects);
  return plan;
}

void ClaimPlan::Narrow(const NodeTable& nodes, RowRange rows, uint8_t* keep) {
  const size_t n = rows.size();
  std::vector<uint8_t> satisfied(n, 0);
  if (can_provision) {
    std::ranges::fill(satisfied, 1);
    allowed.Narrow(rows, satisfied.data());
    roomy.Narrow(rows, satisfied.data());
  }
  if (!selected_node.empty()) {
    for (size_t i = 0; i < n; ++i) {
      satisfied[i] &= static_cast<uint8_t>(nodes.name(NodeRow(rows.begin + i)) == selected_node);
    }
  }
  std::vector<uint8_t> one(n);
  for (Candidate& candidate : candidates) {
    if (std::ranges::find(satisfied, 0) == satisfied.end()) break;
    std::ranges::fill(one, 1);
    candidate.nodes.Narrow(rows, one.data());
    for (size_t i = 0; i < n; ++i) satisfied[i] |= one[i];
  }
  for (size_t i = 0; i < n; ++i) keep[i] &= satisfied[i];
}

const ClaimPlan::Candidate* ClaimPlan::Find(NodeRow row,
                                            const std::vector<std::string_view>& taken) {
  for (Candidate& candidate : candidates) {
    if (std::ranges::find(taken, candidate.volume) != taken.end()) continue;
    if (candidate.nodes.Matches(row)) return &candidate;
  }
  return nullptr;
}

ClaimPlan::Outcome ClaimPlan::Provision(NodeRow row) {
  if (!can_provision || !allowed.Matches(row)) return Outcome::kConflict;
  return roomy.Matches(row) ? Outcome::kProvision : Outcome::kNoSpace;
}

}  // namespace koord::scheduler
