#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "scheduler/reference/core_bed.h"
#include "scheduler/reference/plain_cluster.h"
#include "scheduler/reference/random_objects.h"

namespace koord::scheduler::reference {

// A small cluster in which things happen at random. It exists twice: as the scheduler is shown it,
// one change after another, and as lists that hold how it is now.
class World {
 public:
  World(CoreBed& core, uint64_t seed, bool reservations);

  // A node, pod, metric or other object comes, goes or changes, or time passes.
  void Step();
  // A pod that wants a node: a new one, one more of its kind, or one that was tried before.
  CoreBed::PodPtr NextPod();

  // What becomes of it. `held`: what it was given beyond amounts.
  void Place(const CoreBed::PodPtr& pod, const std::string& node, std::unique_ptr<Holdings> held);
  void Fail(const CoreBed::PodPtr& pod);
  // "" takes a promise back.
  void Nominate(const CoreBed::PodPtr& pod, const std::string& node);
  void Evict(const CoreBed::PodPtr& preemptor, const std::string& node,
             const std::set<std::string>& victims);

  const PlainCluster& cluster() const { return cluster_; }
  Random& random() { return random_; }
  // Everything there is, as YAML.
  std::string Dump() const;

 private:
  void SetNode();
  void SeePodsOf(const std::string& node);
  void RemoveNode();
  void AddPod();
  void DrawFromAny(kube::Pod& pod);
  void RemovePod();
  void ChangePod();
  void SettleAssumed();
  void Happen();
  void NoteUsed();
  void ChangeReservations();
  api::Reservation NewReservation();
  CoreBed::PodPtr NextReservePod();
  void ChangeReservation(api::Reservation reservation);
  void SetReservation(const api::Reservation& reservation);
  void DropReservation(const std::string& name);
  void SettleReservation(const std::string& uid);
  const api::Reservation* ReservationOf(const std::string& uid) const;
  void SetMetric();
  void RemoveMetric();
  void SetObject();
  void RemoveObject();
  void NominateSomebody();
  void PassTime();

  void SetPod(kube::Pod pod);
  void DropPod(const std::string& uid);
  // The watch shows that a pod was evicted.
  void ShowEvicted(const std::string& uid);
  kube::Pod NewPod();
  std::string AnyNode();

  CoreBed& core_;
  Random random_;
  const Flavor flavor_;
  PlainCluster cluster_;
  std::vector<kube::Pod> kinds_;          // pods come in several of a kind
  std::vector<CoreBed::PodPtr> pending_;  // tried before
  std::set<std::string> assumed_;         // uids
  int next_pod_ = 0;
  int next_reservation_ = 0;
};

}  // namespace koord::scheduler::reference
