#include "scheduler/reference/world.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/keys.h"
#include "api/reservation_annotations.h"
#include "api/resources.h"
#include "kube/resources.h"
#include "kube/yaml.h"
#include "model/transform/transform.h"
#include "scheduler/cluster/reserve_pod.h"
#include "scheduler/reference/choose.h"
#include "scheduler/reference/plain_reservation.h"

namespace koord::scheduler::reference {
namespace {

constexpr size_t kKinds = 5;
constexpr size_t kMostPods = 30;

template <class T>
std::shared_ptr<const T> Shared(T object) {
  return std::make_shared<const T>(std::move(object));
}

template <class T>
void RemoveAny(ObjectCache<T>& cache, Random& random) {
  if (!cache.objects().empty())
    cache.Remove(kube::ObjectKey(AnyOf(random, cache.objects())->first));
}

Flavor FlavorOf(Random& random, bool reservations) {
  Flavor flavor = RandomFlavor(random);
  flavor.reservations = reservations;
  return flavor;
}

}  // namespace

World::World(CoreBed& core, uint64_t seed, bool reservations)
    : core_(core), random_(seed), flavor_(FlavorOf(random_, reservations)), cluster_(core.objects) {
  cluster_.now = core.loop.clock().Now();
  for (const char* name : {"one", "two"}) {
    kube::Namespace ns;
    ns.metadata.name = name;
    core_.objects.namespaces.Set(Shared(std::move(ns)));
  }
  for (int64_t n = Between(random_, 1, kNodeNames); n > 0; --n) SetNode();
  for (int64_t n = Between(random_, 0, 12); n > 0 && reservations; --n) ChangeReservations();
  for (int64_t n = Between(random_, 0, 20); n > 0; --n) AddPod();
  for (int64_t n = Between(random_, 0, 8); n > 0; --n) SetMetric();
  for (int64_t n = Between(random_, 0, 3); n > 0; --n) SetObject();
  for (int64_t n = Between(random_, 0, 20); n > 0; --n) {
    SetRandomVolumeObject(core_.objects, random_, cluster_.now);
  }
  NoteUsed();
}

void World::Step() {
  Happen();
  NoteUsed();
}

void World::Happen() {
  if (flavor_.reservations && random_.Chance(0.25)) return ChangeReservations();
  const uint64_t what = random_.Below(100);
  if (what < 12) return SetNode();
  if (what < 15) return RemoveNode();
  if (what < 33) return cluster_.pods.size() < kMostPods ? AddPod() : RemovePod();
  if (what < 43) return RemovePod();
  if (what < 53) return ChangePod();
  if (what < 65) return SettleAssumed();
  if (what < 77) return SetMetric();
  if (what < 79) return RemoveMetric();
  if (what < 88) return SetObject();
  if (what < 91) return RemoveObject();
  if (what < 95) return NominateSomebody();
  PassTime();
}

// ---- Nodes

void World::SetNode() {
  kube::Node node = RandomNode(random_, flavor_, RandomNodeName(random_));
  const auto known = cluster_.nodes.find(node.metadata.name);
  if (known == cluster_.nodes.end() && !cluster_.nodes.empty() && random_.Chance(0.5)) {
    // One more of a kind.
    const std::string name =
        std::exchange(node, *AnyOf(random_, cluster_.nodes)->second.node).metadata.name;
    node.metadata.name = name;
    if (random_.Chance(0.9)) node.metadata.labels.Mutable()["kubernetes.io/hostname"] = name;
  }
  if (known != cluster_.nodes.end() && random_.Chance(0.7)) {  // only one thing changes
    kube::Node next = *known->second.node;
    switch (random_.Below(6)) {
      case 0:
        next.metadata.labels = node.metadata.labels;
        break;
      case 1:
        next.spec.taints = node.spec.taints;
        break;
      case 2:
        next.spec.unschedulable = !next.spec.unschedulable;
        break;
      case 3:
        next.status.allocatable = node.status.allocatable;
        break;
      case 4:
        next.status.images = node.status.images;
        break;
      default:
        next.metadata.annotations = node.metadata.annotations;
    }
    node = std::move(next);
  }
  const auto transformed = model::Transform(Shared(std::move(node))).object;
  core_.ledger.SetNode(transformed);
  if (known == cluster_.nodes.end()) SeePodsOf(transformed->metadata.name);
  cluster_.nodes[transformed->metadata.name] = PlainNodeOf(transformed);
}

// Pods that came before their node, or stayed behind it, hold something there from now on.
void World::SeePodsOf(const std::string& node) {
  for (auto& [uid, pod] : cluster_.pods) {
    if (pod.spec().node_name == node) pod.seen_at = cluster_.now;
  }
}

void World::RemoveNode() {
  if (cluster_.nodes.empty()) return;
  const std::string name = AnyOf(random_, cluster_.nodes)->first;
  core_.ledger.RemoveNode(name);
  cluster_.nodes.erase(name);
}

std::string World::AnyNode() {
  return cluster_.nodes.empty() || random_.Chance(0.03) ? RandomNodeName(random_)
                                                        : AnyOf(random_, cluster_.nodes)->first;
}

// ---- Pods

kube::Pod World::NewPod() {
  if (kinds_.size() < kKinds || random_.Chance(0.1)) {
    if (kinds_.size() == kKinds) kinds_.erase(AnyOf(random_, kinds_));
    kinds_.push_back(RandomPod(random_, flavor_, cluster_.now));
    if (flavor_.reservations) {
      WishForReservations(kinds_.back(), random_,
                          fmt::format("res-{}", Between(random_, 0, next_reservation_)));
    }
  }
  kube::Pod pod = *AnyOf(random_, kinds_);
  pod.metadata.name = fmt::format("pod-{}", next_pod_);
  pod.metadata.uid = fmt::format("uid-{}", next_pod_++);
  return pod;
}

void World::SetPod(kube::Pod pod) {
  const auto shared = Shared(std::move(pod));
  core_.ledger.SetPod(shared);
  WallTime seen_at = cluster_.now;
  const auto known = cluster_.pods.find(shared->metadata.uid);
  if (known != cluster_.pods.end() && known->second.spec() == shared->spec &&
      known->second.pod->status.conditions == shared->status.conditions) {
    seen_at = known->second.seen_at;
  }
  cluster_.pods[shared->metadata.uid] = PlainPodOf(shared, true, seen_at);
}

void World::AddPod() {
  kube::Pod pod = random_.Chance(0.5) ? NewPod() : RandomPod(random_, flavor_, cluster_.now);
  pod.metadata.name = fmt::format("pod-{}", next_pod_);
  pod.metadata.uid = fmt::format("uid-{}", next_pod_++);
  pod.spec.node_name = AnyNode();
  if (!flavor_.reservations && random_.Chance(0.15)) {
    pod.metadata.name = pod.metadata.uid;
    pod.metadata.annotations[std::string(api::kAnnotationReservePod)] = "true";
    pod.metadata.annotations[std::string(api::kAnnotationReservationName)] = "reservation";
  } else {
    Settle(pod, random_, cluster_.now);
    if (random_.Chance(flavor_.reservations ? 0.5 : 0.3)) DrawFromAny(pod);
  }
  SetPod(std::move(pod));
}

// From a reservation on the same node, mostly.
void World::DrawFromAny(kube::Pod& pod) {
  std::vector<const PlainPod*> reservations;
  for (const auto& [uid, other] : cluster_.pods) {
    if (other.is_reservation) reservations.push_back(&other);
  }
  if (reservations.empty()) return;
  const kube::Pod& reservation = *(*AnyOf(random_, reservations))->pod;
  if (random_.Chance(0.8)) pod.spec.node_name = reservation.spec.node_name;
  pod.metadata.annotations[std::string(api::kAnnotationReservationAllocated)] =
      api::EncodeReservationAllocated({.name = reservation.metadata.annotations.at(
                                           std::string(api::kAnnotationReservationName)),
                                       .uid = reservation.metadata.uid});
}

void World::DropPod(const std::string& uid) {
  core_.ledger.RemovePod(uid);
  cluster_.pods.erase(uid);
  cluster_.evicted_unseen.erase(uid);
  assumed_.erase(uid);
}

void World::RemovePod() {
  if (cluster_.pods.empty()) return;
  const std::string uid = AnyOf(random_, cluster_.pods)->first;
  const api::Reservation* reservation = ReservationOf(uid);
  return reservation == nullptr ? DropPod(uid) : DropReservation(reservation->metadata.name);
}

void World::ChangePod() {
  if (cluster_.pods.empty()) return;
  const auto at = AnyOf(random_, cluster_.pods);
  if (assumed_.contains(at->first) || ReservationOf(at->first) != nullptr) return;
  kube::Pod pod = *at->second.pod;
  switch (random_.Below(4)) {
    case 0:
      pod.metadata.labels = RandomPodLabels(random_);
      break;
    case 1:
      if (cluster_.evicted_unseen.contains(at->first)) return ShowEvicted(at->second.meta().uid);
      pod.metadata.deletion_timestamp = cluster_.now;
      break;
    case 2:
      pod.status = {};
      Settle(pod, random_, cluster_.now);
      break;
    default:
      pod.metadata.annotations["example.com/note"] = "changed";
  }
  SetPod(std::move(pod));
}

void World::SettleAssumed() {
  if (assumed_.empty()) return;
  const std::string uid = *AnyOf(random_, assumed_);
  assumed_.erase(uid);
  if (ReservationOf(uid) != nullptr) return SettleReservation(uid);
  if (random_.Chance(0.25)) {
    core_.ledger.Forget(uid);
    cluster_.pods.erase(uid);
    return;
  }
  kube::Pod pod = *cluster_.pods.at(uid).pod;
  if (random_.Chance(0.1)) pod.spec.node_name = AnyNode();  // somebody else bound it elsewhere
  Settle(pod, random_, cluster_.now);
  SetPod(std::move(pod));
}

CoreBed::PodPtr World::NextPod() {
  if (!pending_.empty() && random_.Chance(0.3)) {
    const auto at = AnyOf(random_, pending_);
    const CoreBed::PodPtr pod = *at;
    pending_.erase(at);
    return pod;
  }
  if (flavor_.reservations && random_.Chance(0.15)) return NextReservePod();
  return Shared(NewPod());
}

void World::Place(const CoreBed::PodPtr& pod, const std::string& node,
                  std::unique_ptr<Holdings> held) {
  Nominate(pod, "");
  if (random_.Chance(0.3)) return;  // it is gone before it is bound
  kube::Pod placed = *pod;
  placed.spec.node_name = node;
  if (held != nullptr && held->draws_from) {
    placed.metadata.annotations[std::string(api::kAnnotationReservationAllocated)] =
        api::EncodeReservationAllocated(
            {.name = held->draws_from->name, .uid = held->draws_from->uid});
  }
  (void)core_.ledger.Assume(pod, core_.ledger.shapes().Of(pod), *core_.ledger.nodes().Find(node),
                            std::move(held));
  cluster_.pods[pod->metadata.uid] = PlainPodOf(Shared(std::move(placed)), true, cluster_.now);
  assumed_.insert(pod->metadata.uid);
}

void World::Fail(const CoreBed::PodPtr& pod) {
  pending_.push_back(pod);
  if (pending_.size() <= 4) return;
  Nominate(pending_.front(), "");
  pending_.erase(pending_.begin());
}

void World::Nominate(const CoreBed::PodPtr& pod, const std::string& node) {
  core_.Nominate(pod, node);
  cluster_.nominations.erase(pod->metadata.uid);
  if (!node.empty()) {
    cluster_.nominations[pod->metadata.uid] = {PlainPodOf(pod, false), node};
  }
}

void World::NominateSomebody() {
  if (!pending_.empty()) Nominate(*AnyOf(random_, pending_), random_.Chance(0.2) ? "" : AnyNode());
}

void World::Evict(const CoreBed::PodPtr& preemptor, const std::string& node,
                  const std::set<std::string>& victims) {
  std::erase_if(cluster_.nominations, [&](const auto& entry) {
    return entry.second.node == node &&
           entry.second.pod.priority() < preemptor->spec.priority.value_or(0);
  });
  for (const std::string& uid : victims) {
    if (random_.Chance(0.5) || assumed_.contains(uid)) {
      DropPod(uid);
      continue;
    }
    // Who leaves already is not told again.
    if (cluster_.pods.at(uid).meta().deletion_timestamp) continue;
    cluster_.evicted_unseen.insert(uid);
    if (random_.Chance(0.5)) ShowEvicted(uid);
  }
}

void World::ShowEvicted(const std::string& uid) {
  cluster_.evicted_unseen.erase(uid);
  kube::Pod pod = *cluster_.pods.at(uid).pod;
  pod.metadata.deletion_timestamp = cluster_.now;
  std::erase_if(pod.status.conditions,
                [](const auto& each) { return each.type == "DisruptionTarget"; });
  kube::PodCondition& condition = pod.status.conditions.emplace_back();
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "PreemptionByScheduler";
  SetPod(std::move(pod));
}

// ---- Reservations

const api::Reservation* World::ReservationOf(const std::string& uid) const {
  const auto pod = cluster_.pods.find(uid);
  if (pod == cluster_.pods.end() || !pod->second.is_reservation) return nullptr;
  const std::string* name =
      kube::FindValue(pod->second.meta().annotations, api::kAnnotationReservationName);
  return cluster_.objects.reservations.Find(*name);
}

// Those that wait for a node are as they were made until they have one.
void World::ChangeReservations() {
  const auto& known = cluster_.objects.reservations.objects();
  if (known.empty() || (known.size() < 12 && random_.Chance(0.4))) {
    api::Reservation reservation = NewReservation();
    MakeAvailable(reservation, random_, AnyNode());
    return SetReservation(reservation);
  }
  const api::Reservation& any = *AnyOf(random_, known)->second;
  if (random_.Chance(0.15)) return DropReservation(std::string(any.metadata.name));
  if (any.status.phase == api::kReservationAvailable) ChangeReservation(any);
}

// Those that can be used once and have been seen to be.
void World::NoteUsed() {
  for (const auto& [key, reservation] : cluster_.objects.reservations.objects()) {
    if (reservation->status.phase != api::kReservationAvailable) continue;
    for (const auto& [uid, pod] : cluster_.pods) {
      if (pod.draws_from == reservation->metadata.uid && !assumed_.contains(uid) &&
          pod.spec().node_name == reservation->status.node_name &&
          cluster_.nodes.contains(pod.spec().node_name)) {
        cluster_.spent.insert(reservation->metadata.uid);
      }
    }
  }
}

api::Reservation World::NewReservation() {
  api::Reservation reservation = RandomReservation(
      random_, random_.Chance(0.7) ? NewPod() : RandomPod(random_, flavor_, cluster_.now),
      cluster_.now);
  reservation.metadata.name = fmt::format("res-{}", next_reservation_);
  reservation.metadata.uid = fmt::format("res-uid-{}", next_reservation_++);
  return reservation;
}

CoreBed::PodPtr World::NextReservePod() {
  api::Reservation reservation = NewReservation();
  if (random_.Chance(0.03)) reservation.spec.ttl.reset();
  SetReservation(reservation);
  return MakeReservePod(reservation, core_.profile.scheduler_name);
}

void World::ChangeReservation(api::Reservation reservation) {
  const api::Reservation other = NewReservation();
  switch (random_.Below(8)) {
    case 0:
      reservation.metadata.labels = other.metadata.labels;
      break;
    case 1:
      reservation.metadata.annotations = other.metadata.annotations;
      break;
    case 2:
      reservation.spec.unschedulable = !reservation.spec.unschedulable;
      break;
    case 3:
      reservation.spec.taints = other.spec.taints;
      break;
    case 4:
      reservation.spec.owners = other.spec.owners;
      break;
    case 5:
      MakeAvailable(reservation, random_, reservation.status.node_name);
      break;
    case 6:
      reservation.metadata.deletion_timestamp = cluster_.now;
      break;
    default:
      reservation.status.phase = TextOf(random_, {"Succeeded", "Failed"});
  }
  SetReservation(reservation);
}

void World::SetReservation(const api::Reservation& reservation) {
  const std::string& uid = reservation.metadata.uid;
  core_.SetReservation(Shared(reservation));
  if (reservation.status.phase == api::kReservationAvailable) {
    cluster_.pods[uid] = PlainPodOf(Shared(ReservePodOf(reservation)), true, cluster_.now);
  } else if (!assumed_.contains(uid)) {
    cluster_.pods.erase(uid);
  }
}

void World::DropReservation(const std::string& name) {
  const std::string uid = cluster_.objects.reservations.Find(name)->metadata.uid;
  core_.RemoveReservation(name);
  cluster_.pods.erase(uid);
  assumed_.erase(uid);
}

// It was given a node: it is seen there, or that came to nothing.
void World::SettleReservation(const std::string& uid) {
  api::Reservation reservation = *ReservationOf(uid);
  if (random_.Chance(0.25)) {
    core_.ledger.Forget(uid);
    cluster_.pods.erase(uid);
    return;
  }
  MakeAvailable(reservation, random_, cluster_.pods.at(uid).spec().node_name);
  SetReservation(reservation);
}

// ---- The rest

void World::SetMetric() {
  const std::string node = AnyNode();
  std::vector<const kube::Pod*> pods;
  for (const auto& [uid, pod] : cluster_.pods) {
    if (pod.spec().node_name == node || random_.Chance(0.02)) pods.push_back(pod.pod.get());
  }
  const api::NodeMetric metric = RandomMetric(random_, node, pods, cluster_.now);
  if (metric.status.update_time) cluster_.metric_updates[node] = *metric.status.update_time;
  core_.objects.node_metrics.Set(Shared(metric));
}

void World::RemoveMetric() {
  if (core_.objects.node_metrics.objects().empty()) return;
  const std::string node = AnyOf(random_, core_.objects.node_metrics.objects())->first.name;
  core_.objects.node_metrics.Remove({"", node});
  cluster_.metric_updates.erase(node);
}

void World::SetObject() {
  ClusterObjects& objects = core_.objects;
  const auto known_pod =
      cluster_.pods.empty() ? "none" : AnyOf(random_, cluster_.pods)->second.meta().name;
  switch (random_.Below(10)) {
    case 0:
      return objects.namespaces.Set(Shared(RandomNamespace(random_)));
    case 1:
      return objects.services.Set(Shared(RandomService(random_)));
    case 2:
      return objects.replica_sets.Set(Shared(RandomReplicaSet(random_)));
    case 3:
      return objects.stateful_sets.Set(Shared(RandomStatefulSet(random_)));
    case 4:
      return objects.replication_controllers.Set(Shared(RandomReplicationController(random_)));
    case 5:
      return objects.disruption_budgets.Set(Shared(RandomBudget(random_, known_pod)));
    default:
      return SetRandomVolumeObject(objects, random_, cluster_.now);
  }
}

void World::RemoveObject() {
  ClusterObjects& objects = core_.objects;
  switch (random_.Below(9)) {
    case 0:
      return RemoveAny(objects.services, random_);
    case 1:
      return RemoveAny(objects.replica_sets, random_);
    case 2:
      return RemoveAny(objects.stateful_sets, random_);
    case 3:
      return RemoveAny(objects.disruption_budgets, random_);
    case 4:
      return RemoveAny(objects.persistent_volume_claims, random_);
    case 5:
      return RemoveAny(objects.persistent_volumes, random_);
    case 6:
      return RemoveAny(objects.csi_nodes, random_);
    case 7:
      return RemoveAny(objects.volume_attachments, random_);
    default:
      return RemoveAny(objects.storage_classes, random_);
  }
}

void World::PassTime() {
  while (!cluster_.evicted_unseen.empty()) {
    ShowEvicted(std::string(*cluster_.evicted_unseen.begin()));
  }
  core_.loop.Advance(std::chrono::seconds(OneOf<int64_t>(random_, {1, 10, 60, 100})));
  cluster_.now = core_.loop.clock().Now();
}

std::string World::Dump() const {
  std::string text;
  const auto dump = [&](const kube::Resource& resource, const auto& object) {
    text += fmt::format("---\n{}", kube::ToYaml(kube::EncodeObject(resource, object)));
  };
  for (const auto& [name, node] : cluster_.nodes) dump(kube::kNodes, *node.node);
  for (const auto& [uid, pod] : cluster_.pods) dump(kube::kPods, *pod.pod);
  for (const auto& [uid, each] : cluster_.nominations) {
    text += fmt::format("---\n# promised {}\n", each.node);
    dump(kube::kPods, *each.pod.pod);
  }
  for (const std::string& uid : cluster_.evicted_unseen) {
    text += fmt::format("---\n# evicted, not seen yet: {}\n", uid);
  }
  const auto dump_all = [&](const kube::Resource& resource, const auto& cache) {
    for (const auto& [key, object] : cache.objects()) dump(resource, *object);
  };
  dump_all(kube::kNamespaces, cluster_.objects.namespaces);
  dump_all(kube::kServices, cluster_.objects.services);
  dump_all(kube::kReplicaSets, cluster_.objects.replica_sets);
  dump_all(kube::kStatefulSets, cluster_.objects.stateful_sets);
  dump_all(kube::kReplicationControllers, cluster_.objects.replication_controllers);
  dump_all(kube::kPodDisruptionBudgets, cluster_.objects.disruption_budgets);
  dump_all(kube::kPersistentVolumeClaims, cluster_.objects.persistent_volume_claims);
  dump_all(kube::kPersistentVolumes, cluster_.objects.persistent_volumes);
  dump_all(kube::kStorageClasses, cluster_.objects.storage_classes);
  dump_all(kube::kCsiNodes, cluster_.objects.csi_nodes);
  dump_all(kube::kCsiDrivers, cluster_.objects.csi_drivers);
  dump_all(kube::kCsiStorageCapacities, cluster_.objects.csi_storage_capacities);
  dump_all(kube::kVolumeAttachments, cluster_.objects.volume_attachments);
  dump_all(api::kNodeMetrics, cluster_.objects.node_metrics);
  dump_all(api::kReservations, cluster_.objects.reservations);
  return text;
}

}  // namespace koord::scheduler::reference
