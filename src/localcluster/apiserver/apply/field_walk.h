#pragma once
#include "base/status.h"
#include "kube/json.h"
#include "localcluster/apiserver/apply/field_schema.h"
#include "localcluster/apiserver/apply/field_set.h"

// Walks over objects, field by field as their schema divides them.
namespace koord::apiserver {

// What nobody owns: the type, the name, and what the server sets itself.
bool IsUntracked(std::string_view root_member);  // of the object
bool IsUntrackedMetadata(std::string_view metadata_member);

// Every field that an applied configuration sets.
FieldSet FieldsOf(const kube::Json& object, const FieldSchema& schema,
                  const kube::json::storage_ptr& memory = {});

// What a write did to the fields of an object.
struct FieldDiff {
  FieldSet changed;  // added or of another value
  FieldSet removed;
};
// `before` may be null for a creation.
FieldDiff Compare(const kube::Json* before, const kube::Json& after, const FieldSchema& schema);

// Sets in `live` everything that `applied` sets. Lists that tell their items apart are joined,
// others replaced. Fails if an item lacks its key or two have the same; then `live` is of no use.
Status Merge(kube::Json& live, const kube::Json& applied, const FieldSchema& schema);

// Takes out of `object` the fields of `gone`, and everything below them, unless `kept` has the
// field or something below it.
void RemoveFromObject(kube::Json& object, const FieldSet::Tree& gone, const FieldSet& kept,
                      const FieldSchema& schema);

}  // namespace koord::apiserver
