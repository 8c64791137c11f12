#pragma once
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "localcluster/apiserver/registry/field_error.h"
#include "localcluster/apiserver/registry/field_path.h"
#include "localcluster/apiserver/registry/json_edit.h"

// The checks that validation is made of.
namespace koord::apiserver {

inline const json::object* ObjectIn(const json::object& parent, std::string_view name) {
  const Json* found = parent.if_contains(name);
  return found == nullptr ? nullptr : found->if_object();
}

inline const json::array* ArrayIn(const json::object& parent, std::string_view name) {
  const Json* found = parent.if_contains(name);
  return found == nullptr ? nullptr : found->if_array();
}

inline Json Text(std::string_view text) { return Json(text); }

inline void CheckRequired(const json::object& parent, std::string_view name, const FieldPath& path,
                          FieldErrors& errors) {
  if (IsUnset(parent, name)) errors.push_back(Required(path / name));
}

inline const json::object* RequiredSpecOf(const Json& object, FieldErrors& errors) {
  const json::object* spec = kube::FindObject(object, {"spec"});
  if (spec == nullptr) errors.push_back(Required("spec"));
  return spec;
}

// A string that must be one of a few words. Unset is let pass.
inline void CheckOneOf(const json::object& parent, std::string_view name, const FieldPath& path,
                       std::initializer_list<std::string_view> words, FieldErrors& errors) {
  const std::string_view value = StringAt(parent, name);
  if (value.empty() || std::find(words.begin(), words.end(), value) != words.end()) return;
  errors.push_back(
      NotSupported(path / name, Text(value), std::vector<std::string>(words.begin(), words.end())));
}

inline void CheckNotNegative(const json::object& parent, std::string_view name,
                             const FieldPath& path, FieldErrors& errors) {
  const Json* found = parent.if_contains(name);
  if (found == nullptr || !found->is_int64() || found->get_int64() >= 0) return;
  errors.push_back(Invalid(path / name, *found, "must be greater than or equal to 0"));
}

inline void CheckUnchanged(const Json& object, const Json& old,
                           std::initializer_list<std::string_view> where, std::string_view path,
                           FieldErrors& errors) {
  const Json* now = kube::Find(object, where);
  const Json* before = kube::Find(old, where);
  const Json none;
  if (kube::Equal(now == nullptr ? none : *now, before == nullptr ? none : *before)) return;
  errors.push_back(Invalid(std::string(path), now == nullptr ? none : *now, "field is immutable"));
}

}  // namespace koord::apiserver
