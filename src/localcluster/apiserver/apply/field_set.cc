#include "localcluster/apiserver/apply/field_set.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/strings.h"
#include "localcluster/apiserver/registry/json_edit.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;
using Tree = FieldSet::Tree;

namespace {

// Nodes are objects; what else may have got into a document counts as a leaf.
Tree& Child(Json& value) { return value.is_object() ? value.get_object() : value.emplace_object(); }
const Tree& ChildOf(const Json& value) {
  static const Tree& kLeaf = *new Tree;
  return value.is_object() ? value.get_object() : kLeaf;
}

bool IsMember(const Tree& node) { return node.empty() || node.contains(FieldSet::kSelf); }

StatusOr<std::string> CanonicalKey(std::string_view key) {
  if (key == FieldSet::kSelf || key.starts_with("f:")) return std::string(key);
  const std::string_view content = key.size() < 2 ? std::string_view() : key.substr(2);
  if (key.starts_with("i:") && ParseInt(content)) return std::string(key);
  if (key.starts_with("v:")) {
    ASSIGN_OR_RETURN(const Json value, kube::ParseJson(content));
    return "v:" + kube::Serialize(value);
  }
  if (key.starts_with("k:")) {
    ASSIGN_OR_RETURN(const Json keys, kube::ParseJson(content));
    if (!keys.is_object()) return InvalidArgument("item key {} is no object", Quote(key));
    std::vector<std::pair<std::string_view, const Json*>> sorted;
    for (const auto& member : keys.get_object()) {
      sorted.emplace_back(member.key(), &member.value());
    }
    std::sort(sorted.begin(), sorted.end());
    json::object canonical;
    for (const auto& [name, value] : sorted) canonical.emplace(name, *value);
    return "k:" + json::serialize(canonical);
  }
  return InvalidArgument("{} is no path element", Quote(key));
}

StatusOr<Tree> ParseTree(const Json& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return InvalidArgument("expected an object");
  Tree tree;
  tree.reserve(object->size());
  for (const auto& member : *object) {
    ASSIGN_OR_RETURN(std::string key, CanonicalKey(member.key()));
    ASSIGN_OR_RETURN(Tree child, ParseTree(member.value()));
    // What has nothing below it is a leaf.
    if (child.size() == 1 && child.contains(FieldSet::kSelf)) child.clear();
    tree.insert_or_assign(key, std::move(child));
  }
  return tree;
}

// Adds the node `other`, of which `node` is the counterpart.
bool AddNode(Tree& node, const Tree& other) {
  bool changed = false;
  const bool was_leaf = node.empty();
  if (other.empty()) {
    if (IsMember(node)) return false;
    node.emplace(FieldSet::kSelf, json::object());
    return true;
  }
  if (was_leaf) {
    node.emplace(FieldSet::kSelf, json::object());
    if (other.size() == 1 && other.contains(FieldSet::kSelf)) {
      node.clear();
      return false;
    }
  }
  for (const auto& child : other) {
    if (Json* existing = node.if_contains(child.key())) {
      if (child.key() != FieldSet::kSelf) {
        changed |= AddNode(Child(*existing), ChildOf(child.value()));
      }
    } else {
      node.emplace(child.key(), child.value());
      changed = true;
    }
  }
  return changed;
}

struct Removal {
  bool changed = false;
  bool gone = false;  // nothing is left of the node
};

Removal RemoveNode(Tree& node, const Tree& other);

// Removes the children of `other` from those of `node`: in as many steps as the smaller of them
// has, for a write may touch many fields of which each of many owners has a few.
bool RemoveChildren(Tree& node, const Tree& other) {
  bool changed = false;
  std::vector<std::string_view> gone;  // keys of `other`, which stay where they are
  const auto remove = [&](Json& own, const json::key_value_pair& theirs) {
    if (theirs.key() == FieldSet::kSelf) return;
    const Removal below = RemoveNode(Child(own), ChildOf(theirs.value()));
    changed |= below.changed;
    if (below.gone) gone.push_back(theirs.key());
  };
  if (node.size() < other.size()) {
    for (auto& child : node) {
      const auto theirs = other.find(child.key());
      if (theirs != other.end()) remove(child.value(), *theirs);
    }
  } else {
    for (const auto& child : other) {
      if (Json* own = node.if_contains(child.key())) remove(*own, child);
    }
  }
  for (const std::string_view key : gone) node.erase(key);
  return changed;
}

Removal RemoveNode(Tree& node, const Tree& other) {
  const bool self_goes = IsMember(other);
  if (node.empty()) return {self_goes, self_goes};
  Removal removal{.changed = RemoveChildren(node, other)};
  if (self_goes) removal.changed |= node.erase(FieldSet::kSelf) > 0;
  removal.gone = node.empty();
  // What is left only of the thing itself is a leaf.
  if (node.size() == 1 && node.contains(FieldSet::kSelf)) node.clear();
  return removal;
}

// Null if the two have nothing in common.
std::optional<Tree> IntersectNodes(const Tree& a, const Tree& b) {
  Tree common;
  for (const auto& child : a) {
    if (child.key() == FieldSet::kSelf) continue;
    const Json* counterpart = b.if_contains(child.key());
    if (counterpart == nullptr) continue;
    auto below = IntersectNodes(ChildOf(child.value()), ChildOf(*counterpart));
    if (below) common.emplace(child.key(), std::move(*below));
  }
  if (!IsMember(a) || !IsMember(b)) {
    return common.empty() ? std::nullopt : std::optional(std::move(common));
  }
  if (!common.empty()) common.emplace(FieldSet::kSelf, json::object());
  return common;
}

void RemoveTreesFrom(Tree& node, const Tree& other) {
  for (const auto& child : other) {
    Json* existing = node.if_contains(child.key());
    if (existing == nullptr) continue;
    Tree& below = Child(*existing);
    if (IsMember(ChildOf(child.value()))) {
      node.erase(child.key());
    } else if (!below.empty()) {
      RemoveTreesFrom(below, ChildOf(child.value()));
      if (below.empty()) node.erase(child.key());
    }
  }
}

std::string ElementText(std::string_view key) {
  const std::string_view content = key.size() < 2 ? key : key.substr(2);
  if (key.starts_with("f:")) return fmt::format(".{}", content);
  if (key.starts_with("v:")) return fmt::format("[={}]", content);
  if (key.starts_with("i:")) return fmt::format("[{}]", content);
  const auto keys = kube::ParseJson(content);
  std::vector<std::string> texts;
  if (keys.ok() && keys->is_object()) {
    for (const auto& member : keys->get_object()) {
      texts.push_back(
          fmt::format("{}={}", std::string_view(member.key()), kube::Serialize(member.value())));
    }
  }
  return "[" + Join(texts, ",") + "]";
}

// `path` is that of the node, and again when this returns.
void Visit(const Tree& node, std::string& path,
           const std::function<void(const std::string&)>& visit) {
  std::vector<std::pair<std::string_view, const Tree*>> children;
  for (const auto& child : node) {
    if (child.key() != FieldSet::kSelf) children.emplace_back(child.key(), &ChildOf(child.value()));
  }
  std::sort(children.begin(), children.end());
  for (const auto& [key, child] : children) {
    const size_t length = path.size();
    path += ElementText(key);
    if (IsMember(*child)) visit(path);
    Visit(*child, path, visit);
    path.resize(length);
  }
}

}  // namespace

StatusOr<FieldSet> FieldSet::Parse(const Json& fields_v1) {
  ASSIGN_OR_RETURN(Tree tree, ParseTree(fields_v1));
  tree.erase(FieldSet::kSelf);
  return FieldSet(std::move(tree));
}

FieldSet& FieldSet::operator=(FieldSet&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(&tree_);
  std::construct_at(&tree_, std::move(other.tree_));
  return *this;
}

FieldSet FieldSet::Of(std::initializer_list<std::initializer_list<std::string_view>> paths) {
  FieldSet set;
  for (const auto& path : paths) {
    Tree* node = &set.tree_;
    for (const std::string_view name : path) {
      Json& child = (*node)[fmt::format("f:{}", name)];
      if (!child.is_object()) child.emplace_object();
      node = &child.get_object();
    }
  }
  return set;
}

bool AddFields(Tree& tree, const Tree& other) {
  bool changed = false;
  for (const auto& child : other) {
    if (Json* existing = tree.if_contains(child.key())) {
      changed |= AddNode(Child(*existing), ChildOf(child.value()));
    } else {
      tree.emplace(child.key(), child.value());
      changed = true;
    }
  }
  return changed;
}

bool RemoveFields(Tree& tree, const Tree& other) { return RemoveChildren(tree, other); }

bool FieldSet::Add(const FieldSet& other) { return AddFields(tree_, other.tree_); }

bool FieldSet::Add(FieldSet&& other) {
  if (!tree_.empty()) return AddFields(tree_, other.tree_);
  tree_ = std::move(other.tree_);
  return !tree_.empty();
}

bool FieldSet::Remove(const FieldSet& other) { return RemoveFields(tree_, other.tree_); }

void FieldSet::RemoveTrees(const FieldSet& other) { RemoveTreesFrom(tree_, other.tree_); }

bool FieldSet::operator==(const FieldSet& other) const { return SameMembers(tree_, other.tree_); }

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  if (tree_.empty() || other.tree_.empty()) return {};
  // The root is no member of any set, although empty trees look like leaves.
  Tree common;
  for (const auto& child : tree_) {
    const Json* counterpart = other.tree_.if_contains(child.key());
    if (counterpart == nullptr) continue;
    auto below = IntersectNodes(ChildOf(child.value()), ChildOf(*counterpart));
    if (below) common.emplace(child.key(), std::move(*below));
  }
  return FieldSet(std::move(common));
}

void FieldSet::ForEach(const std::function<void(const std::string& path)>& visit) const {
  std::string path;
  Visit(tree_, path, visit);
}

}  // namespace koord::apiserver
