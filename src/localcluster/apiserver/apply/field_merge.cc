#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "localcluster/apiserver/apply/field_walk.h"
#include "localcluster/apiserver/apply/list_items.h"
#include "localcluster/apiserver/registry/field_path.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;
using Tree = FieldSet::Tree;

namespace {

Status CheckItems(const json::array& items, const FieldSchema& schema, const FieldPath& path) {
  std::vector<std::string> seen;
  for (size_t i = 0; i < items.size(); ++i) {
    auto item = ItemPath(items[i], schema);
    if (!item) {
      std::vector<std::string> keys;
      for (const auto& key : schema.keys) keys.push_back(key.name);
      return InvalidArgument(
          ".{}: element {}: associative list with keys has an element that omits key field \"{}\"",
          path.ToString(), i, fmt::join(keys, "\", \""));
    }
    if (std::find(seen.begin(), seen.end(), *item) != seen.end()) {
      return InvalidArgument(".{}: duplicate entries for key {}", path.ToString(), item->substr(2));
    }
    seen.push_back(std::move(*item));
  }
  return absl::OkStatus();
}

class Merger {
 public:
  Status Merge(Json& live, const Json& applied, const FieldSchema& schema, const FieldPath& path) {
    if (schema.has_items() && applied.is_array()) {
      RETURN_IF_ERROR(CheckItems(applied.get_array(), schema, path));
      if (live.is_array()) {
        return MergeItems(live.get_array(), applied.get_array(), schema, path);
      }
    }
    if (schema.has_members() && applied.is_object()) {
      if (!live.is_object()) live.emplace_object();
      return MergeMembers(live.get_object(), applied.get_object(), schema, path);
    }
    live = applied;
    if (schema.has_items() && live.is_array()) return CheckBelow(live.get_array(), schema, path);
    return absl::OkStatus();
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

  // Items that are new as a whole still have lists inside.
  Status CheckBelow(json::array& items, const FieldSchema& schema, const FieldPath& path) {
    for (size_t i = 0; i < items.size(); ++i) {
      Json item;
      RETURN_IF_ERROR(Merge(item, items[i], schema.Item(), path[i]));
    }
    return absl::OkStatus();
  }

  // Items that only the live object has keep their places; around them the applied order holds.
  Status MergeItems(json::array& live, const json::array& applied, const FieldSchema& schema,
                    const FieldPath& path) {
    const auto new_items = ListItems::Of(applied, schema);
    json::array merged;
    std::vector<bool> taken(live.size(), false);
    size_t at = 0;
    const auto take_live_only = [&] {
      for (; at < live.size(); ++at) {
        if (taken[at]) continue;
        const auto item = ItemPath(live[at], schema);
        if (item && new_items->Find(*item)) return;
        merged.push_back(std::move(live[at]));
      }
    };
    for (size_t i = 0; i < applied.size(); ++i) {
      take_live_only();
      const auto counterpart = std::find_if(live.begin(), live.end(), [&](const Json& item) {
        return SameItem(item, applied[i], schema);
      });
      Json item;
      if (counterpart != live.end()) {
        taken[static_cast<size_t>(counterpart - live.begin())] = true;
        item = std::move(*counterpart);
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
  for (size_t i = items.size(); i-- > 0;) {
    const auto path = ItemPath(items[i], schema);
    const Tree* gone_below = path ? Below(&gone, *path) : nullptr;
    if (gone_below == nullptr) continue;
    if (const Tree* kept_below = Below(kept, *path)) {
      RemoveBelow(items[i], *gone_below, kept_below, schema.Item());
    } else {
      items.erase(items.begin() + static_cast<ptrdiff_t>(i));
    }
  }
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

StatusOr<Json> Merge(const Json& live, const Json& applied, const FieldSchema& schema) {
  Json merged = live;
  RETURN_IF_ERROR(Merger().Merge(merged, applied, schema, FieldPath("")));
  return merged;
}

void RemoveFromObject(Json& object, const FieldSet& gone, const FieldSet& kept,
                      const FieldSchema& schema) {
  if (!object.is_object()) return;
  for (const auto& child : gone.tree()) {
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
