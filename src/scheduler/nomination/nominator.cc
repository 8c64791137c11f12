#include "scheduler/nomination/nominator.h"

#include <algorithm>

#include "scheduler/queue/pod_change.h"

namespace koord::scheduler {

namespace {

auto Find(std::vector<Nominator::PodPtr>& pods, std::string_view uid) {
  return std::find_if(pods.begin(), pods.end(),
                      [&](const Nominator::PodPtr& pod) { return pod->metadata.uid == uid; });
}

}  // namespace

bool Nominator::Add(PodPtr pod) {
  const std::string node = pod->status.nominated_node_name;
  return Nominate(std::move(pod), node);
}

bool Nominator::Nominate(PodPtr pod, std::string_view node) {
  const std::string uid = pod->metadata.uid;
  const std::string before(NodeOf(uid));
  const std::string_view after = is_pending_(*pod) ? node : std::string_view();
  if (before == after) {
    if (!after.empty()) Replace(std::move(pod), after);
    return false;
  }
  if (!before.empty()) TakeBack(uid, before);
  if (!after.empty()) Put(std::move(pod), after);
  return !before.empty();
}

bool Nominator::Update(const kube::Pod& before, PodPtr after) {
  if (!before.status.nominated_node_name.empty() || !after->status.nominated_node_name.empty()) {
    return Add(std::move(after));
  }
  const std::string kept(NodeOf(after->metadata.uid));
  return Nominate(std::move(after), kept);
}

bool Nominator::Remove(std::string_view uid) {
  const auto found = node_of_.find(uid);
  if (found == node_of_.end()) return false;
  const std::string node = found->second;
  TakeBack(uid, node);
  return true;
}

std::string_view Nominator::NodeOf(std::string_view uid) const {
  const auto found = node_of_.find(uid);
  return found == node_of_.end() ? std::string_view() : std::string_view(found->second);
}

std::span<const Nominator::PodPtr> Nominator::On(std::string_view node) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  return found->second.pods;
}

uint64_t Nominator::Version(std::string_view node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? 0 : found->second.version;
}

void Nominator::Put(PodPtr pod, std::string_view node) {
  node_of_[pod->metadata.uid] = node;
  Promises& promises = nodes_[node];
  promises.pods.push_back(std::move(pod));
  promises.version = ++version_;
  Tell(node);
}

void Nominator::Replace(PodPtr pod, std::string_view node) {
  Promises& promises = nodes_[node];
  PodPtr& known = *Find(promises.pods, pod->metadata.uid);
  const bool changed = ChangedForScheduling(*known, *pod);
  known = std::move(pod);
  if (!changed) return;
  promises.version = ++version_;
  Tell(node);
}

void Nominator::TakeBack(std::string_view uid, const std::string& node) {
  const auto found = nodes_.find(node);
  Promises& promises = found->second;
  node_of_.erase(node_of_.find(uid));
  promises.pods.erase(Find(promises.pods, uid));
  promises.version = ++version_;
  if (promises.pods.empty()) nodes_.erase(found);
  Tell(node);
}

void Nominator::Tell(std::string_view node) {
  if (changed_) changed_(node);
}

}  // namespace koord::scheduler
