#include "scheduler/plugins/pod_topology_spread/pod_owners.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

using Operator = kube::LabelMatcher::Operator;

bool Selects(const kube::Labels& selector, const kube::Labels& labels) {
  return std::ranges::all_of(selector, [&](const auto& entry) {
    const std::string* value = kube::FindValue(labels, entry.first);
    return value != nullptr && *value == entry.second;
  });
}

kube::Labels SelectorOfServices(const kube::Pod& pod, const ObjectCache<kube::Service>& services) {
  kube::Labels merged;
  const std::string& ns = pod.metadata.ns;
  const auto& all = services.objects();
  for (auto at = all.lower_bound({ns, ""}); at != all.end() && at->first.ns == ns; ++at) {
    const kube::Labels& selector = at->second->spec.selector;
    if (!selector.empty() && Selects(selector, pod.metadata.labels)) {
      merged.insert(selector.begin(), selector.end());
    }
  }
  return merged;
}

// A selector that cannot be understood adds nothing.
void AddLabels(const kube::Labels& labels, kube::LabelMatcher& matcher) {
  for (const auto& [key, value] : labels) {
    matcher.Add(key, Operator::kEquals, {value}).IgnoreError();
  }
}

void AddSelector(const std::optional<kube::LabelSelector>& selector, kube::LabelMatcher& matcher) {
  if (!selector) return;
  const StatusOr<kube::LabelMatcher> more = kube::LabelMatcher::From(*selector);
  if (!more.ok()) return;
  for (const auto& each : more->requirements()) {
    matcher.Add(each.key, each.op, each.values).IgnoreError();
  }
}

}  // namespace

PodOwners::PodOwners(ClusterObjects& objects) : objects_(objects) {
  const auto of_spec = [](const auto& object) -> const auto& { return object.spec.selector; };
  Watch(objects.services, of_spec);
  Watch(objects.replication_controllers, of_spec);
  Watch(objects.replica_sets, of_spec);
  Watch(objects.stateful_sets, of_spec);
}

template <class Cache, class Selector>
void PodOwners::Watch(Cache& cache, Selector selector_of) {
  cache.AddWatcher([this, selector_of](const auto& before, const auto& after) {
    // Most updates are of the status.
    if (before && after && selector_of(*before) == selector_of(*after)) return;
    ++version_;
    ++versions_[PlaceOf((after ? after : before)->metadata.ns)];
  });
}

kube::LabelMatcher PodOwners::SelectorFor(const kube::Pod& pod) const {
  kube::LabelMatcher matcher;
  AddLabels(SelectorOfServices(pod, objects_.services), matcher);
  const kube::OwnerReference* owner = ControllerOf(pod.metadata);
  if (owner == nullptr) return matcher;
  const kube::ObjectKey key{pod.metadata.ns, owner->name};
  if (owner->kind == "ReplicationController" && owner->api_version == "v1") {
    const auto* found = objects_.replication_controllers.Find(key);
    if (found != nullptr) AddLabels(found->spec.selector, matcher);
  } else if (owner->kind == "ReplicaSet" && owner->api_version == "apps/v1") {
    const auto* found = objects_.replica_sets.Find(key);
    if (found != nullptr) AddSelector(found->spec.selector, matcher);
  } else if (owner->kind == "StatefulSet" && owner->api_version == "apps/v1") {
    const auto* found = objects_.stateful_sets.Find(key);
    if (found != nullptr) AddSelector(found->spec.selector, matcher);
  }
  return matcher;
}

}  // namespace koord::scheduler
