#pragma once
#include <string_view>
#include <utility>

#include "kube/json.h"

// Small steps through documents whose shape is not known for certain.
namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

inline json::object* ObjectAt(json::object& parent, std::string_view name) {
  Json* found = parent.if_contains(name);
  return found == nullptr ? nullptr : found->if_object();
}

inline json::array* ArrayAt(json::object& parent, std::string_view name) {
  Json* found = parent.if_contains(name);
  return found == nullptr ? nullptr : found->if_array();
}

// The object there, made if it is missing or null; null if something else is in its place.
inline json::object* MakeObject(json::object& parent, std::string_view name) {
  Json& value = parent[name];
  if (value.is_null()) value.emplace_object();
  return value.if_object();
}

// Missing, null or "".
inline bool IsUnset(const json::object& parent, std::string_view name) {
  const Json* found = parent.if_contains(name);
  if (found == nullptr || found->is_null()) return true;
  const json::string* text = found->if_string();
  return text != nullptr && text->empty();
}

template <class Value>
void SetIfUnset(json::object& parent, std::string_view name, Value&& value) {
  if (IsUnset(parent, name)) parent[name] = std::forward<Value>(value);
}

inline std::string_view StringAt(const json::object& parent, std::string_view name) {
  const Json* found = parent.if_contains(name);
  const json::string* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

// `field` of object becomes what it is in `from`, be it missing.
inline void TakeField(json::object& object, const json::object& from, std::string_view field) {
  if (const Json* value = from.if_contains(field)) {
    object[field] = *value;
  } else {
    object.erase(field);
  }
}

// Calls `visit` with every object in a list of objects.
template <class Visit>
void ForEachObject(json::object& parent, std::string_view list, Visit visit) {
  json::array* items = ArrayAt(parent, list);
  if (items == nullptr) return;
  for (Json& item : *items) {
    if (json::object* object = item.if_object()) visit(*object);
  }
}

}  // namespace koord::apiserver
