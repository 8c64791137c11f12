#pragma once
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/status.h"
#include "kube/json.h"
#include "localcluster/apiserver/apply/field_schema.h"

namespace koord::apiserver {

// A set of fields of an object, kept in the form in which managedFields spells it (FieldsV1):
// `f:name` a field, `k:{"name":"x"}` the list item with that key, `v:1` the list item of that
// value, `i:0` an index, `.` the thing itself besides what is below it; `{}` is a leaf.
class FieldSet {
 public:
  FieldSet() = default;
  // Fails if a key is of no known form or a value is no object. Item keys are put in canonical
  // order.
  static StatusOr<FieldSet> Parse(const kube::Json& fields_v1);
  // Of plain field paths: FieldSet::Of({{"status"}, {"metadata", "ownerReferences"}}).
  static FieldSet Of(std::initializer_list<std::initializer_list<std::string_view>> paths);
  // Every field that `object` sets.
  static FieldSet In(const kube::Json& object, const FieldSchema& schema);

  const kube::json::object& json() const { return tree_; }
  kube::json::object Take() && { return std::move(tree_); }
  bool empty() const { return tree_.empty(); }

  void Add(const FieldSet& other);
  void Remove(const FieldSet& other);
  // Also drops everything below the members of `other`.
  void RemoveTrees(const FieldSet& other);
  FieldSet Intersection(const FieldSet& other) const;
  bool Intersects(const FieldSet& other) const;

  // Members in order, as conflicts name them: `.spec.containers[name="x"].image`.
  void ForEach(const std::function<void(std::string path)>& visit) const;

  bool operator==(const FieldSet& other) const { return tree_ == other.tree_; }

 private:
  explicit FieldSet(kube::json::object tree) : tree_(std::move(tree)) {}
  friend struct FieldDiff;

  kube::json::object tree_;
};

}  // namespace koord::apiserver
