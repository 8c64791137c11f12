#include "model/reservation/owner_matching.h"

#include <algorithm>

namespace koord::model {
namespace {

// The kinds of keys, so that a name is never taken for a uid.
constexpr std::string_view kEveryPod = "*";
std::string ByUid(std::string_view uid) { return fmt::format("uid {}", uid); }
std::string ByName(std::string_view name) { return fmt::format("name {}", name); }
std::string ByControllerUid(std::string_view uid) { return fmt::format("owned by {}", uid); }
std::string ByControllerName(std::string_view name) { return fmt::format("owned by a {}", name); }
std::string ByLabel(std::string_view key, std::string_view value) {
  return fmt::format("label {}={}", key, value);
}
std::string ByNamespace(std::string_view ns) { return fmt::format("in {}", ns); }

// What is not said holds.
bool Agrees(std::string_view said, std::string_view found) { return said.empty() || said == found; }

bool Matches(const kube::ObjectReference& object, const kube::ObjectMeta& pod) {
  // Objects of a list carry no apiVersion; all pods are of this one.
  return Agrees(object.uid, pod.uid) && Agrees(object.name, pod.name) &&
         Agrees(object.ns, pod.ns) && Agrees(object.api_version, "v1");
}

bool Matches(const api::ReservationControllerReference& said, const kube::OwnerReference& found) {
  return (!said.controller || said.controller == found.controller) && Agrees(said.uid, found.uid) &&
         Agrees(said.name, found.name) && Agrees(said.kind, found.kind) &&
         Agrees(said.api_version, found.api_version);
}

bool Matches(const api::ReservationControllerReference& controller, const kube::ObjectMeta& pod) {
  return Agrees(controller.ns, pod.ns) &&
         std::ranges::any_of(pod.owner_references,
                             [&](const auto& each) { return Matches(controller, each); });
}

// The values that a pod's label must have one of; null where the labels do not say.
const kube::LabelMatcher::Requirement* NarrowestPair(const kube::LabelMatcher& labels) {
  const kube::LabelMatcher::Requirement* narrowest = nullptr;
  for (const auto& each : labels.requirements()) {
    using enum kube::LabelMatcher::Operator;
    if (each.op != kIn && each.op != kEquals && each.op != kDoubleEquals) continue;
    if (narrowest == nullptr || each.values.size() < narrowest->values.size()) narrowest = &each;
  }
  return narrowest;
}

}  // namespace

bool OwnerMatcher::Item::Matches(const kube::Pod& pod) const {
  return (!object || model::Matches(*object, pod.metadata)) &&
         (!controller || model::Matches(*controller, pod.metadata)) &&
         (!labels || labels->Matches(pod.metadata.labels));
}

std::vector<std::string> OwnerMatcher::Item::Keys() const {
  if (object && !object->uid.empty()) return {ByUid(object->uid)};
  if (object && !object->name.empty()) return {ByName(object->name)};
  if (controller && !controller->uid.empty()) return {ByControllerUid(controller->uid)};
  if (controller && !controller->name.empty()) return {ByControllerName(controller->name)};
  if (const auto* pair = labels ? NarrowestPair(*labels) : nullptr) {
    std::vector<std::string> keys;
    for (const std::string& value : pair->values) keys.push_back(ByLabel(pair->key, value));
    return keys;
  }
  if (object && !object->ns.empty()) return {ByNamespace(object->ns)};
  if (controller && !controller->ns.empty()) return {ByNamespace(controller->ns)};
  return {std::string(kEveryPod)};
}

StatusOr<OwnerMatcher> OwnerMatcher::Of(const std::vector<api::ReservationOwner>& owners) {
  OwnerMatcher matcher;
  for (size_t i = 0; i < owners.size(); ++i) {
    Item item{owners[i].object, owners[i].controller, std::nullopt};
    if (owners[i].label_selector) {
      auto labels = kube::LabelMatcher::From(*owners[i].label_selector);
      if (!labels.ok()) {
        return InvalidArgument("owners[{}].labelSelector: {}", i, Message(labels.status()));
      }
      item.labels = *std::move(labels);
    }
    std::ranges::move(item.Keys(), std::back_inserter(matcher.keys_));
    matcher.items_.push_back(std::move(item));
  }
  std::ranges::sort(matcher.keys_);
  matcher.keys_.erase(std::unique(matcher.keys_.begin(), matcher.keys_.end()), matcher.keys_.end());
  return matcher;
}

bool OwnerMatcher::Matches(const kube::Pod& pod) const {
  return std::ranges::any_of(items_, [&](const Item& item) { return item.Matches(pod); });
}

std::vector<std::string> OwnerKeysOf(const kube::Pod& pod) {
  const kube::ObjectMeta& meta = pod.metadata;
  std::vector<std::string> keys{std::string(kEveryPod), ByUid(meta.uid), ByName(meta.name),
                                ByNamespace(meta.ns)};
  for (const kube::OwnerReference& each : meta.owner_references) {
    keys.push_back(ByControllerUid(each.uid));
    keys.push_back(ByControllerName(each.name));
  }
  for (const auto& [key, value] : meta.labels) keys.push_back(ByLabel(key, value));
  return keys;
}

}  // namespace koord::model
