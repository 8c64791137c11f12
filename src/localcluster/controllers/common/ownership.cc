#include "localcluster/controllers/common/ownership.h"

namespace koord::localcluster {

using kube::Json;
using kube::ObjectMeta;
using kube::Resource;

std::optional<std::string> ControllerKey(const ObjectMeta& object, const Resource& kind) {
  const kube::OwnerReference* owner = kube::ControllerOf(object);
  if (owner == nullptr || owner->kind != kind.kind) return std::nullopt;
  if (owner->api_version != kind.api_version()) return std::nullopt;
  return kube::ObjectKey{kind.namespaced ? object.ns : "", owner->name}.ToString();
}

Json ControllerReference(const Owner& owner) {
  return {{"apiVersion", owner.resource.api_version()},
          {"kind", owner.resource.kind},
          {"name", owner.meta.name},
          {"uid", owner.meta.uid},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

std::optional<kube::LabelMatcher> MatcherOf(const std::optional<kube::LabelSelector>& selector) {
  if (!selector) return std::nullopt;
  StatusOr<kube::LabelMatcher> matcher = kube::LabelMatcher::From(*selector);
  if (!matcher.ok()) return std::nullopt;
  return *std::move(matcher);
}

Claim ClaimOn(const ObjectMeta& object, const Owner& owner,
              const std::optional<kube::LabelMatcher>& matcher) {
  const bool matches = matcher && matcher->Matches(object.labels);
  if (const kube::OwnerReference* controller = kube::ControllerOf(object)) {
    if (controller->uid != owner.meta.uid) return Claim::kForeign;
    const bool keep = matches || kube::IsBeingDeleted(owner.meta);
    return keep ? Claim::kOwned : Claim::kReleasable;
  }
  if (!matches || kube::IsBeingDeleted(owner.meta) || kube::IsBeingDeleted(object)) {
    return Claim::kForeign;
  }
  return Claim::kAdoptable;
}

kube::Write AdoptPatch(const Resource& resource, const ObjectMeta& object, const Owner& owner) {
  return StrategicPatch(resource, object,
                        {{"metadata",
                          {{"uid", object.uid},
                           {"ownerReferences", kube::json::array{ControllerReference(owner)}}}}});
}

kube::Write ReleasePatch(const Resource& resource, const ObjectMeta& object, const Owner& owner) {
  const Json gone{{"$patch", "delete"}, {"uid", owner.meta.uid}};
  return StrategicPatch(
      resource, object,
      {{"metadata", {{"uid", object.uid}, {"ownerReferences", kube::json::array{gone}}}}});
}

Json PodFromTemplate(const Json& pod_template, const Owner& owner) {
  Json pod = kube::json::object{};
  for (const char* member : {"labels", "annotations", "finalizers"}) {
    if (const Json* value = kube::Find(pod_template, {"metadata", member})) {
      kube::At(pod, {"metadata", member}) = *value;
    }
  }
  kube::At(pod, {"metadata", "namespace"}) = owner.meta.ns;
  kube::At(pod, {"metadata", "ownerReferences"}) = kube::json::array{ControllerReference(owner)};
  if (const Json* spec = kube::Find(pod_template, {"spec"})) kube::At(pod, {"spec"}) = *spec;
  return pod;
}

std::string RandomName(std::string_view prefix, Random& random) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  constexpr size_t kLongestPrefix = 58;
  std::string name(prefix.substr(0, kLongestPrefix));
  for (int i = 0; i < 5; ++i) name += kAlphabet[random.Below(kAlphabet.size())];
  return name;
}

void NameRandomly(Json& object, const std::string& prefix, Random& random) {
  kube::At(object, {"metadata", "generateName"}) = prefix;
  kube::At(object, {"metadata", "name"}) = RandomName(prefix, random);
}

}  // namespace koord::localcluster
