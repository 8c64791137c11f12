#include "kube/patch/merge_patch.h"

#include "kube/erase_members.h"
#include "kube/patch/patch_error.h"

namespace koord::kube {
namespace {

void Merge(Json& target, const Json& patch) {
  const json::object* changes = patch.if_object();
  if (changes == nullptr) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  json::object& object = target.get_object();
  const auto removed = [&](const auto& member) {
    const Json* change = changes->if_contains(member.key());
    return change != nullptr && change->is_null();
  };
  EraseMembers(object, removed);
  for (const auto& change : *changes) {
    if (!change.value().is_null()) Merge(object[change.key()], change.value());
  }
}

}  // namespace

StatusOr<Json> ApplyMergePatch(Json document, const Json& patch) {
  if (!patch.is_object()) {
    return patch_internal::Malformed("error decoding patch: expected a JSON object");
  }
  Merge(document, patch);
  return document;
}

Json CreateMergePatch(const Json& before, const Json& after) {
  const json::object* from = before.if_object();
  const json::object* to = after.if_object();
  if (from == nullptr || to == nullptr) return after;
  json::object patch;
  for (const auto& member : *from) {
    if (!to->contains(member.key())) patch.emplace(member.key(), nullptr);
  }
  for (const auto& member : *to) {
    const Json* old = from->if_contains(member.key());
    if (old == nullptr) {
      patch.emplace(member.key(), member.value());
    } else if (!Equal(*old, member.value())) {
      patch.emplace(member.key(), CreateMergePatch(*old, member.value()));
    }
  }
  return patch;
}

}  // namespace koord::kube
