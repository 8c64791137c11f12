#pragma once
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "kube/json.h"

namespace koord::apiserver {

// A set of fields of an object, kept in the form in which managedFields spells it (FieldsV1):
// `f:name` a field, `k:{"name":"x"}` the list item with that key, `v:1` the list item of that
// value, `i:0` an index, `.` the thing itself besides what is below it; `{}` is a leaf.
class FieldSet {
 public:
  using Tree = kube::json::object;
  static constexpr std::string_view kSelf = ".";  // the key that stands for the node itself

  FieldSet() = default;
  // Trusts the tree to be well formed.
  explicit FieldSet(Tree tree) : tree_(std::move(tree)) {}
  FieldSet(const FieldSet&) = default;
  FieldSet(FieldSet&&) = default;
  FieldSet& operator=(const FieldSet&) = default;
  // In the memory that the other one was made in: an assigned tree would be copied into its own.
  FieldSet& operator=(FieldSet&& other) noexcept;
  // Fails if a key is of no known form or a value is no object. Item keys are put in canonical
  // order.
  static StatusOr<FieldSet> Parse(const kube::Json& fields_v1);
  // Of plain field paths: FieldSet::Of({{"status"}, {"metadata", "ownerReferences"}}).
  static FieldSet Of(std::initializer_list<std::initializer_list<std::string_view>> paths);

  const Tree& tree() const { return tree_; }
  Tree Take() && { return std::move(tree_); }
  bool empty() const { return tree_.empty(); }

  // Each returns whether the set has changed.
  bool Add(const FieldSet& other);
  bool Add(FieldSet&& other);
  bool Remove(const FieldSet& other);
  // Also drops everything below the members of `other`.
  void RemoveTrees(const FieldSet& other);
  FieldSet Intersection(const FieldSet& other) const;

  // Members in order, as conflicts name them: `.spec.containers[name="x"].image`.
  void ForEach(const std::function<void(const std::string& path)>& visit) const;

  bool operator==(const FieldSet& other) const;

 private:
  Tree tree_;
};

// The same on a tree in place, where it is part of a document.
bool AddFields(FieldSet::Tree& tree, const FieldSet::Tree& other);
bool RemoveFields(FieldSet::Tree& tree, const FieldSet::Tree& other);

}  // namespace koord::apiserver
