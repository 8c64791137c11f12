#include "kube/objects/meta.h"

namespace koord::kube {

ObjectKey ObjectKeyOf(JsonView object) {
  return {std::string(FindString(object, {"metadata", "namespace"})),
          std::string(FindString(object, {"metadata", "name"}))};
}

const OwnerReference* ControllerOf(const ObjectMeta& meta) {
  for (const OwnerReference& owner : meta.owner_references) {
    if (owner.controller.value_or(false)) return &owner;
  }
  return nullptr;
}

const std::string* FindValue(const Labels& pairs, std::string_view key) {
  const auto found = pairs.find(key);
  return found == pairs.end() ? nullptr : &found->second;
}

std::string_view ValueOf(const Labels& pairs, std::string_view key) {
  const std::string* value = FindValue(pairs, key);
  return value == nullptr ? std::string_view() : *value;
}

}  // namespace koord::kube

KOORD_DEFINE_CODEC(koord::kube::ObjectMeta);
KOORD_DEFINE_CODEC(koord::kube::OwnerReference);
KOORD_DEFINE_CODEC(koord::kube::LabelSelector);
KOORD_DEFINE_CODEC(koord::kube::ObjectReference);
KOORD_DEFINE_CODEC(koord::kube::Condition);
