#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/string_map.h"
#include "localcluster/apiserver/apply/field_walk.h"
#include "localcluster/apiserver/apply/list_items.h"
#include "localcluster/apiserver/registry/field_path.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;
using Tree = FieldSet::Tree;

namespace {

// What keeps a list from being told apart by its items.
Status ItemsError(const json::array& items, const FieldSchema& schema, const FieldPath& path) {
  StringSet seen;
  for (size_t i = 0; i < items.size(); ++i) {
    auto item = ItemPath(items[i], schema);
    if (!item) {
      std::vector<std::string> keys;
      for (const auto& key : schema.keys) keys.push_back(key.name);
      return InvalidArgument(
          ".{}: element {}: associative list with keys has an element that omits key field \"{}\"",
          path.ToString(), i, fmt::join(keys, "\", \""));
    }
    if (!seen.insert(*item).second) {
      return InvalidArgument(".{}: duplicate entries for key {}", path.ToString(), item->substr(2));
    }
  }
  return absl::OkStatus();
}

// Lists at any depth of what is new as a whole have to tell their items apart, too.
Status CheckLists(const Json& value, const FieldSchema& schema, const FieldPath& path) {
  if (const auto* object = value.if_object(); object != nullptr && schema.has_members()) {
    for (const auto& member : *object) {
      if (!member.value().is_structured()) continue;
      const std::string_view name = member.key();
      RETURN_IF_ERROR(CheckLists(member.value(), schema.Member(name), path / name));
    }
  } else if (const auto* items = value.if_array(); items != nullptr && schema.has_items()) {
    if (!ListItems::Of(*items, schema)) return ItemsError(*items, schema, path);
    for (size_t i = 0; i < items->size(); ++i) {
      RETURN_IF_ERROR(CheckLists((*items)[i], schema.Item(), path[i]));
    }
  }
  return absl::OkStatus();
}

class Merger {
 public:
  Status Merge(Json& live, const Json& applied, const FieldSchema& schema, const FieldPath& path) {
    if (schema.has_items() && live.is_array() && applied.is_array()) {
      return MergeItems(live.get_array(), applied.get_array(), schema, path);
    }
    if (schema.has_members() && live.is_object() && applied.is_object()) {
      return MergeMembers(live.get_object(), applied.get_object(), schema, path);
    }
    if (!kube::Equal(live, applied)) live = applied;
    return CheckLists(applied, schema, path);
  }

 private:
  Status MergeMembers(json::object& live, const json::object& applied, const FieldSchema& schema,
                      const FieldPath& path) {
    for (const auto& member : applied) {
      const std::string_view name = member.key();
      RETURN_IF_ERROR(Merge(live[name], member.value(), schema.Member(name), path / name));
    }
    return absl::OkStatus();
  }

  // For every live item its place among the new ones.
  static std::vector<std::optional<size_t>> Counterparts(const json::array& live,
                                                         const ListItems& new_items,
                                                         const FieldSchema& schema) {
    std::vector<std::optional<size_t>> counterparts;
    counterparts.reserve(live.size());
    for (const Json& item : live) {
      const auto path = ItemPath(item, schema);
      counterparts.push_back(path ? new_items.Find(*path) : std::nullopt);
    }
    return counterparts;
  }

  // Items that only the live object has keep their places; around them the applied order holds.
  Status MergeItems(json::array& live, const json::array& applied, const FieldSchema& schema,
                    const FieldPath& path) {
    const auto new_items = ListItems::Of(applied, schema);
    if (!new_items) return ItemsError(applied, schema, path);
    if (SameItems(live, applied, schema)) {
      for (size_t i = 0; i < live.size(); ++i) {
        RETURN_IF_ERROR(Merge(live[i], applied[i], schema.Item(), path[i]));
      }
      return absl::OkStatus();
    }
    const std::vector<std::optional<size_t>> counterparts = Counterparts(live, *new_items, schema);
    json::array merged(live.storage());
    merged.reserve(std::max(live.size(), applied.size()));
    std::vector<std::optional<size_t>> places(applied.size());  // in the live list, the first
    for (size_t at = 0; at < live.size(); ++at) {
      if (counterparts[at] && !places[*counterparts[at]]) places[*counterparts[at]] = at;
    }
    std::vector<bool> taken(live.size(), false);
    size_t at = 0;
    const auto take_live_only = [&] {
      for (; at < live.size(); ++at) {
        if (taken[at]) continue;
        if (counterparts[at]) return;
        merged.push_back(std::move(live[at]));
      }
    };
    for (size_t i = 0; i < applied.size(); ++i) {
      take_live_only();
      Json item(live.storage());
      if (places[i]) {
        taken[*places[i]] = true;
        item = std::move(live[*places[i]]);
      }
      RETURN_IF_ERROR(Merge(item, applied[i], schema.Item(), path[i]));
      merged.push_back(std::move(item));
    }
    take_live_only();
    live = std::move(merged);
    return absl::OkStatus();
  }
};

const Tree* Below(const Tree* node, std::string_view key) {
  const Json* child = node == nullptr ? nullptr : node->if_contains(key);
  return child == nullptr ? nullptr : child->if_object();
}

const Tree& TreeOf(const Json& value) {
  static const Tree& kLeaf = *new Tree;
  const Tree* tree = value.if_object();
  return tree == nullptr ? kLeaf : *tree;
}

void RemoveBelow(Json& value, const Tree& gone, const Tree* kept, const FieldSchema& schema);

// `key` is "f:<name>"; other elements name nothing in an object.
void RemoveMember(json::object& object, std::string_view key, const Tree& gone, const Tree* kept,
                  const FieldSchema& schema) {
  if (!key.starts_with("f:")) return;
  const std::string_view name = key.substr(2);
  Json* member = object.if_contains(name);
  if (member == nullptr) return;
  if (const Tree* kept_below = Below(kept, key)) {
    RemoveBelow(*member, gone, kept_below, schema.Member(name));
  } else {
    object.erase(name);
  }
}

void RemoveItems(json::array& items, const Tree& gone, const Tree* kept,
                 const FieldSchema& schema) {
  json::array left;
  for (Json& item : items) {
    const auto path = ItemPath(item, schema);
    const Tree* gone_below = path ? Below(&gone, *path) : nullptr;
    const Tree* kept_below = gone_below == nullptr ? nullptr : Below(kept, *path);
    if (gone_below != nullptr && kept_below == nullptr) continue;
    if (gone_below != nullptr) RemoveBelow(item, *gone_below, kept_below, schema.Item());
    left.push_back(std::move(item));
  }
  items = std::move(left);
}

void RemoveBelow(Json& value, const Tree& gone, const Tree* kept, const FieldSchema& schema) {
  if (schema.has_members() && value.is_object()) {
    for (const auto& child : gone) {
      RemoveMember(value.get_object(), child.key(), TreeOf(child.value()), kept, schema);
    }
  } else if (schema.has_items() && value.is_array()) {
    RemoveItems(value.get_array(), gone, kept, schema);
  }
}

}  // namespace

Status Merge(Json& live, const Json& applied, const FieldSchema& schema) {
  return Merger().Merge(live, applied, schema, FieldPath(""));
}

void RemoveFromObject(Json& object, const Tree& gone, const FieldSet& kept,
                      const FieldSchema& schema) {
  if (!object.is_object()) return;
  for (const auto& child : gone) {
    const Tree& below = TreeOf(child.value());
    if (Json* metadata = kube::Find(object, {"metadata"});
        child.key() == "f:metadata" && metadata) {
      // It always stays itself, whoever owns something in it.
      RemoveBelow(*metadata, below, Below(&kept.tree(), child.key()), schema.Member("metadata"));
    } else {
      RemoveMember(object.get_object(), child.key(), below, &kept.tree(), schema);
    }
  }
}

}  // namespace koord::apiserver
