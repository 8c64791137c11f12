#include "kube/patch/strategic_merge_patch.h"

#include <algorithm>

#include "base/string_map.h"
#include "kube/erase_members.h"
#include "kube/patch/list_merge.h"
#include "kube/patch/patch_error.h"

namespace koord::kube {
namespace {

using patch_internal::Failed;
using patch_internal::Identities;
using patch_internal::Identity;
using patch_internal::Inapplicable;
using patch_internal::Malformed;

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";

bool IsDirective(std::string_view key) {
  return key == kPatch || key == kRetainKeys || key.starts_with(kSetElementOrder) ||
         key.starts_with(kDeleteFromList);
}

// The text of $patch; empty if there is none. A value of another type is no known directive either.
std::string PatchDirective(const Json& value) {
  const json::object* object = value.if_object();
  const Json* directive = object == nullptr ? nullptr : object->if_contains(kPatch);
  if (directive == nullptr) return {};
  if (!directive->is_string()) return Serialize(*directive);
  return std::string(std::string_view(directive->get_string()));
}

Status UnknownDirective(const std::string& directive, const Json& patch) {
  return Failed(fmt::format("unknown patch type: {} in map: {}", directive, Serialize(patch)));
}

Status NoMergeKey(const Json& element, std::string_view merge_key) {
  return Failed(fmt::format("map: {} does not contain declared merge key: {}", Serialize(element),
                            merge_key));
}

// A value of the patch that has nothing to merge with: without directives and null members. Maps
// that are there only to be deleted are left out.
Json Cleaned(const Json& value) {
  if (const json::object* object = value.if_object()) {
    json::object cleaned;
    for (const auto& member : *object) {
      if (IsDirective(member.key()) || member.value().is_null()) continue;
      if (PatchDirective(member.value()) == "delete") continue;
      cleaned.emplace(member.key(), Cleaned(member.value()));
    }
    return cleaned;
  }
  if (const json::array* array = value.if_array()) {
    json::array cleaned;
    for (const Json& item : *array) {
      if (PatchDirective(item) != "delete") cleaned.push_back(Cleaned(item));
    }
    return cleaned;
  }
  return value;
}

bool SameJsonType(const Json& a, const Json& b) {
  return a.kind() == b.kind() || (a.is_number() && b.is_number());
}

// Whether `patch` takes a member away: by null, or by a directive where there is nothing that it
// could merge with.
bool IsRemoved(const json::object& patch, const json::key_value_pair& member) {
  const Json* change = IsDirective(member.key()) ? nullptr : patch.if_contains(member.key());
  if (change == nullptr) return false;
  return change->is_null() || (!member.value().is_object() && PatchDirective(*change) == "delete");
}

// How a member merges, and the type of what is in it.
struct MemberRule {
  const Type* type = nullptr;
  const Type::Field* field = nullptr;  // null for values of maps and for unknown members

  bool merges_lists() const { return field != nullptr && field->patch_merge; }
  bool replaces() const { return field != nullptr && field->patch_replace; }
  std::string_view merge_key() const {
    return field == nullptr ? std::string_view() : field->patch_merge_key;
  }
  const Type* element() const { return type == nullptr ? nullptr : type->element; }
};

MemberRule RuleFor(const Type* parent, std::string_view member) {
  if (parent == nullptr) return {};
  if (parent->kind == Type::Kind::kMap) return {parent->element, nullptr};
  const Type::Field* field = parent->Find(member);
  return field == nullptr ? MemberRule() : MemberRule{field->type, field};
}

class StrategicMerger {
 public:
  // Merges `patch` into `original`. `type` is null where the shape is not known.
  Status Map(json::object& original, const json::object& patch, const Type* type) {
    if (patch.contains(kPatch)) return Directive(original, patch);
    if (const Json* keys = patch.if_contains(kRetainKeys)) {
      RETURN_IF_ERROR(RetainKeys(original, patch, *keys));
    }
    for (const auto& member : patch) {
      const std::string_view key = member.key();
      if (!key.starts_with(kSetElementOrder)) continue;
      RETURN_IF_ERROR(
          OrderedList(original, patch, key.substr(kSetElementOrder.size()), member.value(), type));
    }
    for (const auto& member : patch) {
      const std::string_view key = member.key();
      if (!key.starts_with(kDeleteFromList)) continue;
      RETURN_IF_ERROR(DeleteScalars(original, key.substr(kDeleteFromList.size()), member.value()));
    }
    EraseMembers(original, [&](const auto& member) { return IsRemoved(patch, member); });
    for (const auto& member : patch) {
      const std::string_view key = member.key();
      const bool ordered = patch.contains(std::string(kSetElementOrder) + std::string(key));
      if (IsDirective(key) || ordered || member.value().is_null()) continue;
      RETURN_IF_ERROR(Member(original, key, member.value(), RuleFor(type, key)));
    }
    return absl::OkStatus();
  }

 private:
  static Status Directive(json::object& original, const json::object& patch) {
    const std::string directive = PatchDirective(patch);
    original.clear();
    if (directive == "delete") return absl::OkStatus();
    if (directive != "replace") return UnknownDirective(directive, patch);
    original = patch;
    original.stable_erase(kPatch);
    return absl::OkStatus();
  }

  static Status RetainKeys(json::object& original, const json::object& patch, const Json& keys) {
    const json::array* list = keys.if_array();
    if (list == nullptr) return Malformed("invalid patch format of retainKeys");
    StringSet retained;
    for (const Json& key : *list) {
      if (!key.is_string()) return Malformed("invalid patch format of retainKeys");
      retained.emplace(std::string_view(key.get_string()));
    }
    for (const auto& member : patch) {
      if (member.value().is_null() || IsDirective(member.key())) continue;
      if (!retained.contains(std::string_view(member.key()))) return Inapplicable();
    }
    EraseMembers(original, [&](const auto& member) {
      return !retained.contains(std::string_view(member.key()));
    });
    return absl::OkStatus();
  }

  Status OrderedList(json::object& original, const json::object& patch, std::string_view member,
                     const Json& order, const Type* type) {
    const MemberRule rule = RuleFor(type, member);
    const Json* change = patch.if_contains(member);
    const Json* live = original.if_contains(member);
    if (change != nullptr && change->is_null()) return absl::OkStatus();  // deleted later
    const auto is_list = [](const Json* value) { return value == nullptr || value->is_array(); };
    if (!order.is_array() || !is_list(change) || !is_list(live)) {
      return Malformed("invalid patch format of setElementOrder list");
    }
    if (change == nullptr && live == nullptr) return absl::OkStatus();
    if (!rule.merges_lists()) {
      if (change != nullptr) original[member] = Cleaned(*change);
      return absl::OkStatus();
    }
    static const json::array kNone;
    json::array merged = live == nullptr ? json::array() : live->get_array();
    RETURN_IF_ERROR(
        List(merged, change == nullptr ? kNone : change->get_array(), &order.get_array(), rule));
    original[member] = std::move(merged);
    return absl::OkStatus();
  }

  static Status DeleteScalars(json::object& original, std::string_view member, const Json& doomed) {
    const json::array* list = doomed.if_array();
    if (list == nullptr) return Malformed("invalid patch format of primitive list");
    Json* live = original.if_contains(member);
    if (live == nullptr) return absl::OkStatus();
    json::array* elements = live->if_array();
    if (elements == nullptr) return Malformed("invalid patch format of primitive list");
    StringSet identities;
    for (const Json& item : *list) identities.insert(Identity(item, {}));
    json::array kept;
    for (Json& element : *elements) {
      if (!identities.contains(Identity(element, {}))) kept.push_back(std::move(element));
    }
    *elements = std::move(kept);
    return absl::OkStatus();
  }

  Status Member(json::object& original, std::string_view key, const Json& change,
                const MemberRule& rule) {
    Json* live = original.if_contains(key);
    if (live == nullptr || !SameJsonType(*live, change)) {
      if (PatchDirective(change) != "delete") original[key] = Cleaned(change);
      return absl::OkStatus();
    }
    if (change.is_object() && !rule.replaces()) {
      return Map(live->get_object(), change.get_object(), rule.type);
    }
    if (change.is_array() && rule.merges_lists()) {
      return List(live->get_array(), change.get_array(), nullptr, rule);
    }
    *live = Cleaned(change);
    return absl::OkStatus();
  }

  // `order` is the list of $setElementOrder, or null.
  Status List(json::array& live, const json::array& patch, const json::array* order,
              const MemberRule& rule) {
    const std::string_view merge_key = rule.merge_key();
    json::array changes;  // the elements of the patch that are no directives
    StringSet doomed;
    bool replace = false;
    for (const Json& element : patch) {
      const std::string directive = merge_key.empty() ? "" : PatchDirective(element);
      if (directive.empty()) {
        changes.push_back(element);
      } else if (directive == "replace") {
        replace = true;
      } else if (directive == "delete") {
        std::string identity = Identity(element, merge_key);
        if (identity.empty()) return NoMergeKey(element, merge_key);
        doomed.insert(std::move(identity));
      } else {
        return UnknownDirective(directive, element);
      }
    }
    if (replace) {
      live = Cleaned(changes).get_array();
      return absl::OkStatus();
    }

    const std::vector<std::string> named =
        Identities(order == nullptr ? changes : *order, merge_key);
    if (order != nullptr && !patch_internal::IsInOrder(Identities(changes, merge_key), named)) {
      return Failed(
          fmt::format("The order in patch list: {} doesn't match $setElementOrder list: {}",
                      json::serialize(changes), json::serialize(*order)));
    }
    std::vector<std::string> reference = Identities(live, merge_key);
    const size_t removed = RemoveAll(live, doomed, merge_key);
    std::vector<std::string> added;
    RETURN_IF_ERROR(merge_key.empty() ? AddScalars(live, changes, added)
                                      : MergeElements(live, changes, rule, added));
    if (order != nullptr) {
      // A renamed element takes the place of the one that it replaces.
      std::erase_if(reference, [&](const std::string& each) { return doomed.contains(each); });
      added.resize(std::min(added.size(), removed));
      reference.insert(reference.end(), added.begin(), added.end());
    }
    patch_internal::OrderMerged(live, merge_key, named, reference);
    return absl::OkStatus();
  }

  static size_t RemoveAll(json::array& live, const StringSet& doomed, std::string_view merge_key) {
    if (doomed.empty()) return 0;
    json::array kept;
    for (Json& element : live) {
      if (!doomed.contains(Identity(element, merge_key))) kept.push_back(std::move(element));
    }
    const size_t removed = live.size() - kept.size();
    live = std::move(kept);
    return removed;
  }

  Status MergeElements(json::array& live, const json::array& changes, const MemberRule& rule,
                       std::vector<std::string>& added) {
    StringMap<size_t> positions;
    for (size_t i = 0; i < live.size(); ++i) {
      positions.try_emplace(Identity(live[i], rule.merge_key()), i);
    }
    for (const Json& change : changes) {
      const std::string identity = Identity(change, rule.merge_key());
      if (identity.empty()) return NoMergeKey(change, rule.merge_key());
      const auto [it, is_new] = positions.try_emplace(identity, live.size());
      if (is_new) {
        live.push_back(Cleaned(change));
        added.push_back(identity);
      } else {
        RETURN_IF_ERROR(Map(live[it->second].get_object(), change.get_object(), rule.element()));
      }
    }
    return absl::OkStatus();
  }

  // A union: every value once.
  static Status AddScalars(json::array& live, const json::array& changes,
                           std::vector<std::string>& added) {
    StringSet present;
    json::array merged;
    for (Json& element : live) {
      if (present.insert(Identity(element, {})).second) merged.push_back(std::move(element));
    }
    for (const Json& change : changes) {
      std::string identity = Identity(change, {});
      if (!present.insert(identity).second) continue;
      merged.push_back(change);
      added.push_back(std::move(identity));
    }
    live = std::move(merged);
    return absl::OkStatus();
  }
};

}  // namespace

StatusOr<Json> ApplyStrategicMergePatch(Json document, const Json& patch, const Type& type) {
  const json::object* changes = patch.if_object();
  if (changes == nullptr) return Malformed("error decoding patch: expected a JSON object");
  if (!document.is_object()) document.emplace_object();
  RETURN_IF_ERROR(StrategicMerger().Map(document.get_object(), *changes, &type));
  return document;
}

}  // namespace koord::kube
