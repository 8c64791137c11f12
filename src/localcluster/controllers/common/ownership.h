#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "kube/controller/plan.h"
#include "kube/informer/informer.h"
#include "kube/json.h"
#include "kube/objects/meta.h"
#include "kube/resource.h"
#include "kube/selectors.h"
#include "localcluster/informers/cluster_informers.h"

// Whose objects are whose: a workload controls the pods that carry its reference, adopts matching
// ones that nobody controls, and lets go of its own that do not match any more.
namespace koord::localcluster {

struct Owner {
  const kube::Resource& resource;
  const kube::ObjectMeta& meta;
};

// The key ("ns/name") of the object of this kind that controls another; none if nobody or somebody
// else does.
std::optional<std::string> ControllerKey(const kube::ObjectMeta& object,
                                         const kube::Resource& kind);

// The reference that marks an object as controlled by the owner.
kube::Json ControllerReference(const Owner& owner);

// What a workload's selector selects; none (no object at all) if it is absent or makes no sense.
std::optional<kube::LabelMatcher> MatcherOf(const std::optional<kube::LabelSelector>& selector);

enum class Claim { kOwned, kAdoptable, kReleasable, kForeign };
Claim ClaimOn(const kube::ObjectMeta& object, const Owner& owner,
              const std::optional<kube::LabelMatcher>& matcher);

// Calls `enqueue` with the keys of the owners of this kind that a change of an object concerns: the
// one that controls it, the one that did, and, if the object has become free to be adopted, those
// in its namespace whose selector it matches.
template <class T, class O, class Enqueue>
void ForOwners(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& after,
               const kube::Resource& kind, const kube::Informer<O>& owners, Enqueue enqueue) {
  std::optional<std::string> was, is;
  if (before != nullptr) was = ControllerKey(before->metadata, kind);
  if (after != nullptr) is = ControllerKey(after->metadata, kind);
  if (was) enqueue(*was);
  if (is && is != was) enqueue(*is);
  if (after == nullptr || kube::ControllerOf(after->metadata) != nullptr) return;
  if (before != nullptr && before->metadata.labels == after->metadata.labels && !was) return;
  for (const auto& owner : owners.ByIndex(kube::kByNamespace, after->metadata.ns)) {
    if (ClaimOn(after->metadata, {kind, owner->metadata}, MatcherOf(owner->spec.selector)) ==
        Claim::kAdoptable) {
      enqueue(kube::KeyOf(owner->metadata).ToString());
    }
  }
}

kube::Write AdoptPatch(const kube::Resource& resource, const kube::ObjectMeta& object,
                       const Owner& owner);
kube::Write ReleasePatch(const kube::Resource& resource, const kube::ObjectMeta& object,
                         const Owner& owner);

// The objects that the owner controls or is about to, in key order; adoptions and releases are
// added to the plan. An owner that is being deleted adopts nothing.
template <class T>
std::vector<std::shared_ptr<const T>> ClaimAll(const kube::Informer<T>& informer,
                                               const kube::Resource& resource, const Owner& owner,
                                               const std::optional<kube::LabelSelector>& selector,
                                               kube::Plan& plan) {
  const std::optional<kube::LabelMatcher> matcher = MatcherOf(selector);
  std::vector<std::shared_ptr<const T>> claimed;
  for (auto& object : informer.ByIndex(kube::kByOwner, owner.meta.uid)) {
    if (ClaimOn(object->metadata, owner, matcher) == Claim::kReleasable) {
      plan.Add(ReleasePatch(resource, object->metadata, owner));
    } else {
      claimed.push_back(object);
    }
  }
  for (auto& object : informer.ByIndex(kube::kByOwner, kube::OrphansOf(owner.meta.ns))) {
    if (ClaimOn(object->metadata, owner, matcher) != Claim::kAdoptable) continue;
    plan.Add(AdoptPatch(resource, object->metadata, owner));
    claimed.push_back(object);
  }
  return claimed;
}

// A pod as a template describes it, controlled by the owner. It has no name yet.
kube::Json PodFromTemplate(const kube::Json& pod_template, const Owner& owner);

// "web-" -> "web-x7k2p": as the server would name it. The name is made here so that a request that
// is repeated because its answer was lost makes no second object.
std::string RandomName(std::string_view prefix, Random& random);
// Gives a new object such a name.
void NameRandomly(kube::Json& object, const std::string& prefix, Random& random);

}  // namespace koord::localcluster
