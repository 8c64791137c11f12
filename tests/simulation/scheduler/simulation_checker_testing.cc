#include "simulation/scheduler/simulation_checker_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/device_annotations.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/reservation_annotations.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/codec.h"
#include "kube/objects/pod_resources.h"
#include "kube/resources.h"
#include "simulation/scheduler/simulation_plan_testing.h"
#include "simulation/scheduler/simulation_topology_testing.h"

namespace koord::localcluster::simulation {
namespace {

// How old a scheduler's idea of who is pending may be: a watch is broken, and tried again later.
constexpr Duration kOldestIdea = 60s;

template <class T>
T Decode(const apiserver::EntryPtr& entry) {
  T object;
  const auto json = kube::ParseJson(entry->value);
  EXPECT_TRUE(json.ok()) << entry->value;
  if (json.ok()) {
    EXPECT_TRUE(kube::Codec<T>::Read(*json, object).ok()) << entry->value;
  }
  return object;
}

bool HasEnded(const kube::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

std::string Text(const kube::ResourceList& list) { return kube::Serialize(kube::Encode(list)); }

}  // namespace

Checker::Checker(const Clock& clock, apiserver::Store& store) : clock_(clock) {
  Watch(store, kube::kPods.qualified(), &Checker::SeePod);
  Watch(store, kube::kNodes.qualified(), &Checker::SeeNode);
  Watch(store, api::kReservations.qualified(), &Checker::SeeReservation);
  Watch(store, api::kElasticQuotas.qualified(), &Checker::SeeQuota);
  Watch(store, kube::kEvents.qualified(), &Checker::SeeOther);
  Watch(store, kube::kLeases.qualified(), &Checker::SeeOther);
}

void Checker::Watch(apiserver::Store& store, const std::string& resource,
                    void (Checker::*see)(const apiserver::Change&)) {
  auto subscription =
      store.Watch(resource, store.revision(),
                  [this, resource, see](std::span<const apiserver::ChangePtr> changes) {
                    for (const apiserver::ChangePtr& change : changes) {
                      Trace(resource, *change);
                      (this->*see)(*change);
                    }
                  });
  ASSERT_TRUE(subscription.ok()) << subscription.status();
  subscriptions_.push_back(std::move(*subscription));
}

void Checker::Trace(std::string_view resource, const apiserver::Change& change) {
  const std::string moment = std::to_string(clock_.Steady().count());
  const std::string_view value =
      change.after == nullptr ? std::string_view("gone") : std::string_view(change.after->value);
  for (const std::string_view text :
       {std::string_view(moment), resource, std::string_view(change.key), value}) {
    for (const unsigned char c : text) trace_hash_ = (trace_hash_ ^ c) * 1099511628211u;
  }
  LOG_V(3, "Change", {"at", moment}, {"resource", resource}, {"object", change.key},
        {"value", value});
}

void Checker::SeePod(const apiserver::Change& change) {
  const kube::Pod before = change.before ? Decode<kube::Pod>(change.before) : kube::Pod();
  const std::string name = change.key.substr(change.key.find('/') + 1);
  if (change.after == nullptr) {
    pods_.erase(name);
    return;
  }
  kube::Pod pod = Decode<kube::Pod>(change.after);
  uids_.insert(pod.metadata.uid);
  const bool was_bound = !before.spec.node_name.empty();
  if (was_bound && pod.spec.node_name != before.spec.node_name) {
    Complain(
        fmt::format("I1: {} moved from {} to {}", name, before.spec.node_name, pod.spec.node_name));
  }
  const bool is_binding = !was_bound && !pod.spec.node_name.empty();
  if (!was_bound) last_pending_[pod.spec.priority.value_or(0)] = clock_.Steady();
  PodState& state = pods_[name];
  state.pod = std::move(pod);
  state.ended = HasEnded(state.pod);
  const bool has_node = !state.pod.spec.node_name.empty();
  if (!has_node &&
      state.pod.metadata.annotations.contains(std::string(api::kAnnotationDeviceAllocated))) {
    Complain(fmt::format("{} holds devices and has no node", name));
  }
  if (!has_node &&
      state.pod.metadata.annotations.contains(std::string(api::kAnnotationReservationAllocated))) {
    Complain(fmt::format("{} draws from a reservation and has no node", name));
  }
  if (!is_binding) return;
  state.bound_at = clock_.Steady();
  ++pods_bound_;
  bindings_.push_back(
      fmt::format("{} {} {}", clock_.Steady() / 1ms, name, state.pod.spec.node_name));
  CheckBinding(state.pod);
}

void Checker::SeeNode(const apiserver::Change& change) {
  if (change.after == nullptr) {
    nodes_.erase(change.key);
  } else {
    nodes_[change.key] = Decode<kube::Node>(change.after);
  }
}

void Checker::OnDecided(const std::string& uid, const std::string& node,
                        kube::ResourceList allocatable) {
  decided_[{uid, node}] = std::move(allocatable);
}

void Checker::OnBindingSent(const std::string& uid, const std::string& node) {
  ++bindings_sent_;
  if (!uids_.contains(uid)) Complain(fmt::format("I1: binding of unknown pod \"{}\"", uid));
  if (!decided_.contains({uid, node})) {
    Complain(fmt::format("I1: {} is sent to {}, which was not chosen", uid, node));
  }
}

void Checker::CheckBinding(const kube::Pod& pod) {
  CheckDecided(pod.metadata.name, pod.metadata.uid, pod.spec.node_name);
  CheckHoldings(pod);
  CheckDraw(pod);
  CheckDevices(pod.spec.node_name);
}

// No more of a device is given than there is.
void Checker::CheckDevices(const std::string& node) {
  std::map<std::pair<std::string, int32_t>, kube::ResourceList> given;
  for (const auto& [name, state] : pods_) {
    if (state.pod.spec.node_name != node || state.ended) continue;
    const auto allocations = api::DeviceAllocationsOf(state.pod.metadata.annotations);
    if (!allocations.ok() || !*allocations) continue;
    for (const auto& [type, list] : **allocations) {
      for (const api::DeviceAllocation& each : list) {
        kube::AddTo(given[{type, each.minor}], each.resources);
        ++devices_given_;
      }
    }
  }
  const kube::Quantity whole(100);
  for (const auto& [device, amounts] : given) {
    for (const std::string_view part : {api::kGpuCore, api::kGpuMemoryRatio}) {
      if (kube::AmountOf(amounts, part) <= whole) continue;
      Complain(fmt::format("I3: {} {} of {} is given more than once: {}", device.first,
                           device.second, node, Text(amounts)));
    }
  }
}

void Checker::CheckHoldings(const kube::Pod& pod) {
  std::vector<const kube::Pod*> others;
  for (const auto& [name, state] : pods_) {
    if (state.ended || state.pod.spec.node_name != pod.spec.node_name) continue;
    if (state.pod.metadata.uid != pod.metadata.uid) others.push_back(&state.pod);
  }
  const bool is_large = pod.spec.node_name.starts_with("big");
  for (std::string& wrong :
       WrongHoldings(pod, others, is_large ? kCpusOfLargeMachine : kCpusOfMachine)) {
    Complain(std::move(wrong));
  }
}

void Checker::CheckDecided(const std::string& name, const std::string& uid,
                           const std::string& node_name) {
  const auto decided = decided_.find({uid, node_name});
  if (decided == decided_.end()) {
    return Complain(fmt::format("I1: nobody sent {} to {}", name, node_name));
  }
  kube::ResourceList allocatable = decided->second;
  if (const auto node = nodes_.find(node_name); node != nodes_.end()) {
    kube::RaiseTo(allocatable, node->second.status.allocatable);
  }
  CheckRoom(name, node_name, allocatable);
}

kube::ResourceList Checker::ChargedTo(const std::string& node, const std::string& but_for,
                                      std::string& who) const {
  kube::ResourceList charged;
  int64_t count = 0;
  for (const auto& [name, state] : pods_) {
    if (state.pod.spec.node_name != node || state.ended || name == but_for) continue;
    kube::AddTo(charged, kube::PodRequests(state.pod));
    ++count;
    who += " " + name;
  }
  // What reservations hold and nobody uses.
  for (const auto& [name, state] : reservations_) {
    const api::ReservationStatus& status = state.object.status;
    if (status.node_name != node || !state.available() || name == but_for) continue;
    int64_t owners = 0;
    const kube::ResourceList used = UsedOf(state.object, owners, but_for);
    for (const auto& [resource, amount] : status.allocatable) {
      const kube::Quantity rest = amount - kube::AmountOf(used, resource);
      if (rest.Sign() > 0) charged[resource] += rest;
    }
    count += owners == 0 ? 1 : 0;
    who += fmt::format(" {}({} owners)", name, owners);
  }
  charged[std::string(kube::kPodCount)] = kube::Quantity(count);
  return charged;
}

void Checker::CheckRoom(const std::string& name, const std::string& node,
                        const kube::ResourceList& allocatable) {
  std::string who, others;
  const kube::ResourceList charged = ChargedTo(node, "", who);
  const kube::ResourceList before = ChargedTo(node, name, others);
  for (const auto& [resource, amount] : charged) {
    if (amount <= kube::AmountOf(allocatable, resource)) continue;
    if (amount <= kube::AmountOf(before, resource)) continue;
    return Complain(
        fmt::format("I2: {} is over-committed by {}: charged {}, allocatable {}, pods{}", node,
                    name, Text(charged), Text(allocatable), who));
  }
}

// ---- Quotas

void Checker::SeeQuota(const apiserver::Change& change) {
  const size_t slash = change.key.find('/');
  if (change.key.substr(0, slash) != "default") return;
  const std::string name = change.key.substr(slash + 1);
  if (change.after == nullptr) {
    quotas_.erase(name);
  } else {
    quotas_[name] = Decode<api::ElasticQuota>(change.after);
  }
}

std::map<std::string, kube::ResourceList> Checker::QuotaUsage() const {
  std::map<std::string, kube::ResourceList> usage;
  for (const auto& [name, quota] : quotas_) usage[name];
  for (const auto& [name, state] : pods_) {
    if (!state.bound() || state.ended) continue;
    const std::string label(kube::ValueOf(state.pod.metadata.labels, api::kLabelQuotaName));
    // Quotas of the plan are two levels deep at most.
    for (auto quota = quotas_.find(label); quota != quotas_.end();
         quota = quotas_.find(std::string(api::ParentQuotaOf(quota->second)))) {
      kube::AddTo(usage[quota->first], kube::PodRequests(state.pod));
    }
  }
  return usage;
}

// ---- Reservations

namespace {

std::string DrawnBy(const kube::Pod& pod) {
  const auto allocated = api::ReservationAllocatedOf(pod.metadata.annotations);
  return allocated.ok() && *allocated ? (*allocated)->uid : "";
}

std::string AppOf(const kube::Pod& pod) {
  return std::string(kube::ValueOf(pod.metadata.labels, "app"));
}

// The application that a reservation of the plan is for.
std::string AppOf(const api::Reservation& reservation) {
  return reservation.spec.owners.at(0).label_selector->match_labels.at("app");
}

}  // namespace

const Checker::ReservationState* Checker::FindReservation(const std::string& uid) const {
  for (const auto& [name, state] : reservations_) {
    if (state.object.metadata.uid == uid) return &state;
  }
  return nullptr;
}

kube::ResourceList Checker::UsedOf(const api::Reservation& reservation, int64_t& owners,
                                   const std::string& but_for) const {
  kube::ResourceList used;
  for (const auto& [name, state] : pods_) {
    if (state.ended || name == but_for ||
        state.pod.spec.node_name != reservation.status.node_name ||
        DrawnBy(state.pod) != reservation.metadata.uid) {
      continue;
    }
    kube::AddTo(used, kube::PodRequests(state.pod));
    ++owners;
  }
  return used;
}

void Checker::SeeReservation(const apiserver::Change& change) {
  if (change.after == nullptr) {
    reservations_.erase(change.key);
    return;
  }
  api::Reservation object = Decode<api::Reservation>(change.after);
  uids_.insert(object.metadata.uid);
  known_reservations_[object.metadata.uid] = object;
  const auto known = reservations_.find(change.key);
  const bool same =
      known != reservations_.end() && known->second.object.metadata.uid == object.metadata.uid;
  const ReservationState before = same ? known->second : ReservationState();
  const std::string& node = object.status.node_name;
  const std::string& was_on = before.object.status.node_name;
  if (!was_on.empty() && node != was_on) {
    Complain(fmt::format("I1: {} moved from {} to {}", change.key, was_on, node));
  }
  if (before.ended() && object.status.phase != before.object.status.phase) {
    Complain(fmt::format("{} was {} and is {}", change.key, before.object.status.phase,
                         object.status.phase));
  }
  ReservationState& state = reservations_[change.key];
  const bool becomes_available = !before.available() && object.status.phase == "Available";
  state = {.object = std::move(object),
           .available_at = becomes_available ? clock_.Steady() : before.available_at};
  if (becomes_available) {
    bindings_.push_back(
        fmt::format("{} {} {}", clock_.Steady() / 1ms, change.key, state.object.status.node_name));
    CheckDecided(change.key, state.object.metadata.uid, state.object.status.node_name);
  }
}

void Checker::CheckDraw(const kube::Pod& pod) {
  const std::string& name = pod.metadata.name;
  const std::string uid = DrawnBy(pod);
  if (uid.empty()) {
    if (pod.metadata.annotations.contains(std::string(api::kAnnotationReservationAffinity))) {
      Complain(fmt::format("{} must use a reservation and has none", name));
    }
    return;
  }
  ++draws_;
  const auto known = known_reservations_.find(uid);
  if (known == known_reservations_.end()) {
    return Complain(fmt::format("{} draws from {}, which there never was", name, uid));
  }
  const api::Reservation& reservation = known->second;
  if (reservation.status.node_name != pod.spec.node_name) {
    Complain(fmt::format("{} on {} draws from {} on {}", name, pod.spec.node_name,
                         reservation.metadata.name, reservation.status.node_name));
  }
  if (AppOf(reservation) != AppOf(pod)) {
    Complain(fmt::format("{} draws from {}, which is not for it", name, reservation.metadata.name));
  }
  auto& drawn = drawn_[uid];
  drawn.insert(pod.metadata.uid);
  if (api::AllocatesOnce(reservation.spec) && drawn.size() > 1) {
    Complain(fmt::format("I4: {} is the second to use {}", name, reservation.metadata.name));
  }
}

// The only pod that uses a reservation makes no room for others when it goes, unless it uses more
// than is reserved.
void Checker::CheckVictim(const kube::Pod& victim) {
  const ReservationState* state = FindReservation(DrawnBy(victim));
  if (state == nullptr || !state->available() ||
      clock_.Steady() - state->available_at < kOldestIdea / 4) {
    return;
  }
  int64_t owners = 0;
  if (!kube::FitsIn(UsedOf(state->object, owners), state->object.status.allocatable)) return;
  if (owners != 1) return;
  for (const auto& [name, other] : pods_) {
    if (!other.bound() && AppOf(other.pod) == AppOf(victim) &&
        other.pod.spec.priority.value_or(0) > victim.spec.priority.value_or(0)) {
      return;
    }
  }
  Complain(fmt::format("{} is evicted, and what {} holds stays reserved", victim.metadata.name,
                       state->object.metadata.name));
}

void Checker::OnReservationDeletionSent(const std::string& name, const std::string& uid) {
  if (uid.empty()) Complain(fmt::format("{} is deleted without naming its uid", name));
  const auto known = reservations_.find(name);
  // Another one of the name is safe: the API server refuses.
  if (known == reservations_.end() || known->second.object.metadata.uid != uid) return;
  if (!known->second.ended()) Complain(fmt::format("{} is collected and has not ended", name));
}

void Checker::OnDeletionSent(const std::string& name, const std::string& uid) {
  if (uid.empty()) Complain(fmt::format("{} is deleted without naming its uid", name));
  const auto victim = pods_.find(name);
  if (victim == pods_.end() || victim->second.pod.metadata.uid != uid) return;
  evicted_.insert(name);
  CheckVictim(victim->second.pod);
  // Those who are pending now, and those who were not long ago.
  for (const auto& [other, state] : pods_) {
    if (!state.bound()) last_pending_[state.pod.spec.priority.value_or(0)] = clock_.Steady();
  }
  const int32_t priority = victim->second.pod.spec.priority.value_or(0);
  for (auto more = last_pending_.upper_bound(priority); more != last_pending_.end(); ++more) {
    if (clock_.Steady() - more->second <= kOldestIdea) return;
  }
  Complain(fmt::format("{} (priority {}) is evicted for nobody", name, priority));
}

void Checker::Complain(std::string what) {
  complaints_.push_back(fmt::format("at {} ms: {}", clock_.Steady() / 1ms, what));
}

}  // namespace koord::localcluster::simulation
