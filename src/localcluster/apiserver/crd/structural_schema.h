#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "kube/schema/reported_fields.h"
#include "localcluster/apiserver/registry/field_error.h"

namespace koord::apiserver {

struct SchemaNode;

// The schema of one version of a custom resource, compiled once so that every write can be pruned,
// defaulted and validated quickly.
//
// A schema must be structural: every value that it mentions has a type outside of allOf, anyOf,
// oneOf and not, and what those mention is also specified outside of them. That makes pruning and
// defaulting well defined.
class StructuralSchema {
 public:
  // `schema` is an openAPIV3Schema, `path` where it stands in the definition. Null, with the
  // reasons appended to `errors`, if it is not structural or says something that makes no sense.
  static std::shared_ptr<const StructuralSchema> Compile(const kube::Json& schema,
                                                         std::string_view path,
                                                         FieldErrors& errors);
  StructuralSchema(std::unique_ptr<const SchemaNode> root, bool has_rules);
  ~StructuralSchema();

  // Removes the fields that the schema does not know, from metadata too. Their paths
  // ("spec.a[1].b") come back sorted: the unknown-field warnings.
  kube::ReportedFields Prune(kube::Json& object) const;

  // Puts defaults where fields are missing, or null without being nullable.
  void ApplyDefaults(kube::Json& object) const;

  // With `old`, values that were already wrong and have not changed are let pass (ratcheting), so
  // that a tightened schema does not lock existing objects.
  FieldErrors Validate(const kube::Json& object, const kube::Json* old = nullptr) const;

  // True if the schema has x-kubernetes-validations (CEL), which are not enforced.
  bool has_rules() const { return has_rules_; }

 private:
  std::unique_ptr<const SchemaNode> root_;
  bool has_rules_ = false;
};
using StructuralSchemaPtr = std::shared_ptr<const StructuralSchema>;

}  // namespace koord::apiserver
