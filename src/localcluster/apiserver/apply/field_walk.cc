#include "localcluster/apiserver/apply/field_walk.h"

#include <string>
#include <utility>

#include "localcluster/apiserver/apply/list_items.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;
using Tree = FieldSet::Tree;

namespace {

void AddSelf(Tree& node) { node.emplace(FieldSet::kSelf, json::object()); }

// "f:<name>", ready-made where the schema declares the field.
class MemberPath {
 public:
  MemberPath(const FieldSchema& schema, std::string_view name)
      : field_(schema.Find(name)), schema_(field_ != nullptr ? *field_->schema : schema.Item()) {
    if (field_ == nullptr) own_.append("f:").append(name);
  }
  std::string_view text() const { return field_ != nullptr ? field_->path : own_; }
  const FieldSchema& schema() const { return schema_; }
  bool declared() const { return field_ != nullptr; }

 private:
  const FieldSchema::Field* field_;
  const FieldSchema& schema_;
  std::string own_;
};

enum class Containers {
  kOwned,    // who adds an object or list to a document owns it besides what is in it
  kImplied,  // an applied configuration owns only what it says
};

void Collect(const Json& value, const FieldSchema& schema, Containers containers, Tree& node);

void CollectMembers(const json::object& object, const FieldSchema& schema, Containers containers,
                    Tree& node) {
  if (object.empty()) return;
  node.reserve(object.size() + 1);
  if (containers == Containers::kOwned && !schema.implied) AddSelf(node);
  for (const auto& member : object) {
    const MemberPath path(schema, member.key());
    Tree child(node.storage());
    Collect(member.value(), path.schema(), containers, child);
    // Entries of a map are owned themselves, like items of a list.
    if (!path.declared() && !child.empty()) AddSelf(child);
    node.emplace(path.text(), std::move(child));
  }
}

void CollectItems(const json::array& items, const FieldSchema& schema, Containers containers,
                  Tree& node) {
  const auto named = ListItems::Of(items, schema);
  if (!named || items.empty()) return;
  node.reserve(items.size() + 1);
  if (containers == Containers::kOwned) AddSelf(node);
  for (size_t i = 0; i < items.size(); ++i) {
    Tree child(node.storage());
    Collect(items[i], schema.Item(), containers, child);
    if (!child.empty()) AddSelf(child);
    node.emplace(named->paths()[i], std::move(child));
  }
}

// Fills `node` with what is below `value`; a node left empty is the leaf `value` itself.
void Collect(const Json& value, const FieldSchema& schema, Containers containers, Tree& node) {
  if (const auto* object = value.if_object(); object != nullptr && schema.has_members()) {
    CollectMembers(*object, schema, containers, node);
  } else if (const auto* items = value.if_array(); items != nullptr && schema.has_items()) {
    CollectItems(*items, schema, containers, node);
  }
}

Tree CollectOwned(const Json& value, const FieldSchema& schema) {
  Tree node;
  Collect(value, schema, Containers::kOwned, node);
  return node;
}

// Where a comparison notes what it finds; children are attached only if something was found.
struct DiffNode {
  Tree changed, removed;
  bool has_changed = false, has_removed = false;

  void Attach(std::string_view path, DiffNode child) {
    if (child.has_changed) AddChanged(path, std::move(child.changed));
    if (child.has_removed) AddRemoved(path, std::move(child.removed));
  }
  void AddChanged(std::string_view path, Tree child) {
    changed.emplace(path, std::move(child));
    has_changed = true;
  }
  void AddRemoved(std::string_view path, Tree child) {
    removed.emplace(path, std::move(child));
    has_removed = true;
  }
};

DiffNode DiffValues(const Json& before, const Json& after, const FieldSchema& schema);

void DiffMember(const Json* before, const Json& after, const MemberPath& path, DiffNode& node) {
  if (before == nullptr) {
    Tree added = CollectOwned(after, path.schema());
    if (!path.declared() && !added.empty()) AddSelf(added);
    node.AddChanged(path.text(), std::move(added));
  } else {
    node.Attach(path.text(), DiffValues(*before, after, path.schema()));
  }
}

template <class Skip>
void DiffMembers(const json::object& before, const json::object& after, const FieldSchema& schema,
                 DiffNode& node, Skip skip) {
  for (const auto& member : after) {
    const std::string_view name = member.key();
    if (!skip(name)) DiffMember(before.if_contains(name), member.value(), {schema, name}, node);
  }
  for (const auto& member : before) {
    const std::string_view name = member.key();
    if (skip(name) || after.contains(name)) continue;
    const MemberPath path(schema, name);
    node.AddRemoved(path.text(), CollectOwned(member.value(), path.schema()));
  }
}

void AddItemSelf(Tree& node) {
  if (!node.empty()) AddSelf(node);
}

void DiffItems(const json::array& before, const json::array& after, const FieldSchema& schema,
               DiffNode& node) {
  if (SameItems(before, after, schema)) {
    for (size_t i = 0; i < after.size(); ++i) {
      if (kube::Equal(before[i], after[i])) continue;
      DiffNode child = DiffValues(before[i], after[i], schema.Item());
      if (!child.has_changed && !child.has_removed) continue;
      node.Attach(ItemPath(after[i], schema).value_or(""), std::move(child));
    }
    return;
  }
  const auto old_items = ListItems::Of(before, schema), new_items = ListItems::Of(after, schema);
  if (!old_items || !new_items) {
    // Items that cannot be told apart make the list one value.
    node.has_changed = true;
    return;
  }
  for (size_t i = 0; i < after.size(); ++i) {
    const std::string& path = new_items->paths()[i];
    if (const auto at = old_items->Find(path)) {
      node.Attach(path, DiffValues(before[*at], after[i], schema.Item()));
      continue;
    }
    Tree added = CollectOwned(after[i], schema.Item());
    AddItemSelf(added);
    node.AddChanged(path, std::move(added));
  }
  for (size_t i = 0; i < before.size(); ++i) {
    const std::string& path = old_items->paths()[i];
    if (new_items->Find(path)) continue;
    Tree removed = CollectOwned(before[i], schema.Item());
    AddItemSelf(removed);
    node.AddRemoved(path, std::move(removed));
  }
}

DiffNode DiffValues(const Json& before, const Json& after, const FieldSchema& schema) {
  DiffNode node;
  if (schema.has_members() && before.is_object() && after.is_object()) {
    DiffMembers(before.get_object(), after.get_object(), schema, node,
                [](std::string_view) { return false; });
  } else if (schema.has_items() && before.is_array() && after.is_array()) {
    DiffItems(before.get_array(), after.get_array(), schema, node);
  } else {
    node.has_changed = !kube::Equal(before, after);
  }
  return node;
}

const json::object& ObjectOrEmpty(const Json* value) {
  static const json::object& kEmpty = *new json::object;
  const json::object* object = value == nullptr ? nullptr : value->if_object();
  return object == nullptr ? kEmpty : *object;
}

}  // namespace

bool IsUntracked(std::string_view root_member) {
  return root_member == "apiVersion" || root_member == "kind";
}

bool IsUntrackedMetadata(std::string_view metadata_member) {
  for (const std::string_view name : {"creationTimestamp", "generation", "managedFields", "name",
                                      "namespace", "resourceVersion", "selfLink", "uid"}) {
    if (metadata_member == name) return true;
  }
  return false;
}

FieldDiff Compare(const Json* before, const Json& after, const FieldSchema& schema) {
  const json::object& old_object = ObjectOrEmpty(before);
  const json::object& new_object = ObjectOrEmpty(&after);
  DiffNode node;
  DiffMembers(old_object, new_object, schema, node,
              [](std::string_view name) { return IsUntracked(name) || name == "metadata"; });
  DiffNode metadata;
  DiffMembers(ObjectOrEmpty(old_object.if_contains("metadata")),
              ObjectOrEmpty(new_object.if_contains("metadata")), schema.Member("metadata"),
              metadata, IsUntrackedMetadata);
  node.Attach("f:metadata", std::move(metadata));
  return {FieldSet(std::move(node.changed)), FieldSet(std::move(node.removed))};
}

FieldSet FieldsOf(const Json& object, const FieldSchema& schema, const json::storage_ptr& memory) {
  Tree tree(memory);
  for (const auto& member : ObjectOrEmpty(&object)) {
    const MemberPath path(schema, member.key());
    Tree child(memory);
    if (IsUntracked(member.key())) continue;
    if (member.key() == "metadata") {
      for (const auto& field : ObjectOrEmpty(&member.value())) {
        if (IsUntrackedMetadata(field.key())) continue;
        const MemberPath field_path(path.schema(), field.key());
        Tree below(memory);
        Collect(field.value(), field_path.schema(), Containers::kImplied, below);
        child.emplace(field_path.text(), std::move(below));
      }
      if (child.empty()) continue;
    } else {
      Collect(member.value(), path.schema(), Containers::kImplied, child);
    }
    tree.emplace(path.text(), std::move(child));
  }
  return FieldSet(std::move(tree));
}

}  // namespace koord::apiserver
