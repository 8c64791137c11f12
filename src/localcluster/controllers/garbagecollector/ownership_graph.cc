#include "localcluster/controllers/garbagecollector/ownership_graph.h"

#include <algorithm>

namespace koord::localcluster {
namespace {

using kube::Json;
using kube::ObjectMeta;

bool HasFinalizer(const ObjectMeta& meta, std::string_view finalizer) {
  return std::find(meta.finalizers.begin(), meta.finalizers.end(), finalizer) !=
         meta.finalizers.end();
}

bool IsWaiting(const ObjectMeta& meta, std::string_view finalizer) {
  return kube::IsBeingDeleted(meta) && HasFinalizer(meta, finalizer);
}

// Lists are written whole, so they must rest on the latest state.
kube::Write PinnedMetadataPatch(const OwnershipGraph::Object& object, const char* member,
                                Json list) {
  Json patch{{"metadata",
              {{"uid", object.meta->uid}, {"resourceVersion", object.meta->resource_version}}}};
  kube::At(patch, {"metadata", member}) = std::move(list);
  return MergePatch(object.resource, *object.meta, std::move(patch));
}

kube::Write DropFinalizer(const OwnershipGraph::Object& object, std::string_view finalizer) {
  kube::json::array rest;
  for (const std::string& each : object.meta->finalizers) {
    if (each != finalizer) rest.emplace_back(each);
  }
  return PinnedMetadataPatch(object, "finalizers", std::move(rest));
}

template <class Keep>
kube::Write KeepOwners(const OwnershipGraph::Object& object, Keep keep) {
  kube::json::array rest;
  for (const kube::OwnerReference& owner : object.meta->owner_references) {
    if (keep(owner)) rest.push_back(kube::Encode(owner));
  }
  return PinnedMetadataPatch(object, "ownerReferences", std::move(rest));
}

kube::Write PinnedDelete(const OwnershipGraph::Object& object, std::string_view propagation) {
  kube::Write write = Delete(object.resource, *object.meta);
  write.options.resource_version = object.meta->resource_version;
  write.options.propagation_policy = propagation;
  return write;
}

}  // namespace

void OwnershipGraph::Put(const kube::Resource& resource, MetaPtr meta) {
  const std::string& uid = meta->uid;
  Object& object = objects_[uid];
  const bool has_same_owners =
      object.meta != nullptr && object.meta->owner_references == meta->owner_references;
  if (!has_same_owners) {
    if (object.meta != nullptr) Unlink(uid, object.meta->owner_references);
    for (const kube::OwnerReference& owner : meta->owner_references) {
      dependents_[owner.uid].insert(uid);
    }
  }
  if (object.resource != resource) object.resource = resource;
  object.meta = std::move(meta);
}

void OwnershipGraph::Remove(const std::string& uid) {
  const auto object = objects_.find(uid);
  if (object == objects_.end()) return;
  Unlink(uid, object->second.meta->owner_references);
  objects_.erase(object);
  // Remembered only as long as somebody refers to it.
  if (dependents_.contains(uid)) absent_.insert(uid);
}

void OwnershipGraph::Unlink(const std::string& uid,
                            const std::vector<kube::OwnerReference>& owners) {
  for (const kube::OwnerReference& owner : owners) {
    const auto siblings = dependents_.find(owner.uid);
    if (siblings == dependents_.end()) continue;
    siblings->second.erase(uid);
    if (!siblings->second.empty()) continue;
    dependents_.erase(siblings);
    absent_.erase(owner.uid);
  }
}

const OwnershipGraph::Object* OwnershipGraph::Find(std::string_view uid) const {
  const auto object = objects_.find(uid);
  return object == objects_.end() ? nullptr : &object->second;
}

std::vector<std::string> OwnershipGraph::DependentsOf(std::string_view uid) const {
  const auto found = dependents_.find(uid);
  if (found == dependents_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::vector<std::string> OwnershipGraph::AllUids() const {
  std::vector<std::string> uids;
  for (const auto& [uid, object] : objects_) uids.push_back(uid);
  std::sort(uids.begin(), uids.end());
  return uids;
}

bool OwnershipGraph::IsSuspect(const std::string& uid) const {
  const Object* object = Find(uid);
  if (object == nullptr) return false;
  if (kube::IsBeingDeleted(*object->meta)) return !object->meta->finalizers.empty();
  const auto& owners = object->meta->owner_references;
  return std::any_of(owners.begin(), owners.end(), [&](const kube::OwnerReference& owner) {
    return StateOf(owner) != OwnerState::kThere;
  });
}

OwnershipGraph::OwnerState OwnershipGraph::StateOf(const kube::OwnerReference& owner) const {
  if (const Object* object = Find(owner.uid)) {
    return IsWaiting(*object->meta, kForegroundDeletion) ? OwnerState::kWaiting
                                                         : OwnerState::kThere;
  }
  return absent_.contains(owner.uid) ? OwnerState::kGone : OwnerState::kUnknown;
}

OwnershipGraph::Verdict OwnershipGraph::Judge(const std::string& uid) const {
  Verdict verdict;
  const Object* object = Find(uid);
  if (object == nullptr) return verdict;
  if (IsWaiting(*object->meta, kOrphan)) {
    JudgeOrphaning(*object, verdict);
  } else if (IsWaiting(*object->meta, kForegroundDeletion)) {
    JudgeForeground(*object, verdict);
  } else if (!kube::IsBeingDeleted(*object->meta)) {
    JudgeOwners(*object, verdict);
  }
  return verdict;
}

void OwnershipGraph::JudgeForeground(const Object& object, Verdict& verdict) const {
  bool blocked = false;
  for (const std::string& uid : DependentsOf(object.meta->uid)) {
    const Object* dependent = Find(uid);
    if (dependent == nullptr) continue;
    for (const kube::OwnerReference& owner : dependent->meta->owner_references) {
      const bool blocks =
          owner.uid == object.meta->uid && owner.block_owner_deletion.value_or(false);
      blocked |= blocks;
    }
    if (!kube::IsBeingDeleted(*dependent->meta)) verdict.look_at.push_back(uid);
  }
  if (!blocked) verdict.plan.Add(DropFinalizer(object, kForegroundDeletion));
}

void OwnershipGraph::JudgeOrphaning(const Object& object, Verdict& verdict) const {
  const std::vector<std::string> dependents = DependentsOf(object.meta->uid);
  for (const std::string& uid : dependents) {
    const Object* dependent = Find(uid);
    if (dependent == nullptr) continue;
    verdict.plan.Add(
        KeepOwners(*dependent, [&](const auto& owner) { return owner.uid != object.meta->uid; }));
  }
  if (dependents.empty()) verdict.plan.Add(DropFinalizer(object, kOrphan));
}

void OwnershipGraph::JudgeOwners(const Object& object, Verdict& verdict) const {
  bool there = false, waiting = false, gone = false;
  for (const kube::OwnerReference& owner : object.meta->owner_references) {
    const OwnerState state = StateOf(owner);
    there |= state == OwnerState::kThere;
    waiting |= state == OwnerState::kWaiting;
    gone |= state == OwnerState::kGone;
    if (state == OwnerState::kUnknown) verdict.unknown_owners.push_back(owner);
  }
  if (!verdict.unknown_owners.empty() || (!waiting && !gone)) return;
  if (there) {
    verdict.plan.Add(KeepOwners(object, [&](const kube::OwnerReference& owner) {
      return StateOf(owner) == OwnerState::kThere;
    }));
    return;
  }
  // Foreground goes on downwards, so that the owner really outlives all below it.
  const bool has_dependents = dependents_.contains(object.meta->uid);
  if (HasFinalizer(*object.meta, kOrphan)) {
    verdict.plan.Add(PinnedDelete(object, "Orphan"));
  } else if (HasFinalizer(*object.meta, kForegroundDeletion) || (waiting && has_dependents)) {
    verdict.plan.Add(PinnedDelete(object, "Foreground"));
  } else {
    verdict.plan.Add(PinnedDelete(object, "Background"));
  }
}

}  // namespace koord::localcluster
