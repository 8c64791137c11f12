#include "simulation/scheduler/simulation_checker_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "kube/codec.h"
#include "kube/objects/pod_resources.h"
#include "kube/resources.h"

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
  if (!is_binding) return;
  state.bound_at = clock_.Steady();
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
  const auto decided = decided_.find({pod.metadata.uid, pod.spec.node_name});
  if (decided == decided_.end()) {
    return Complain(fmt::format("I1: nobody sent {} to {}", pod.metadata.name, pod.spec.node_name));
  }
  kube::ResourceList allocatable = decided->second;
  if (const auto node = nodes_.find(pod.spec.node_name); node != nodes_.end()) {
    kube::RaiseTo(allocatable, node->second.status.allocatable);
  }
  CheckRoom(pod, allocatable);
}

void Checker::CheckRoom(const kube::Pod& pod, const kube::ResourceList& allocatable) {
  kube::ResourceList requested;
  int64_t count = 0;
  std::string who;
  for (const auto& [name, state] : pods_) {
    if (state.pod.spec.node_name != pod.spec.node_name || state.ended) continue;
    kube::AddTo(requested, kube::PodRequests(state.pod));
    ++count;
    who += " " + name;
  }
  requested[std::string(kube::kPodCount)] = kube::Quantity(count);
  if (kube::FitsIn(requested, allocatable)) return;
  Complain(fmt::format("I2: {} is over-committed by {}: requested {}, allocatable {}, pods{}",
                       pod.spec.node_name, pod.metadata.name, Text(requested), Text(allocatable),
                       who));
}

void Checker::OnDeletionSent(const std::string& name, const std::string& uid) {
  if (uid.empty()) Complain(fmt::format("{} is deleted without naming its uid", name));
  const auto victim = pods_.find(name);
  if (victim == pods_.end() || victim->second.pod.metadata.uid != uid) return;
  evicted_.insert(name);
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
