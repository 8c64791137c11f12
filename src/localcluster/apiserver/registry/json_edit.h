#pragma once
#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kube/json.h"

// Small steps through documents whose shape is not known for certain.
namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

// An insertion into an object may move all of its members, so that a pointer to one of them would
// be left dangling by the next default that is set beside it. Hence nobody is handed such pointers:
// members are edited by functions that get the member, and capture nothing by which they could
// reach what is around it. What else they need is passed by value or as a reference to something
// outside of the parent.
template <class Edit>
inline constexpr bool kCapturesNothing = std::is_empty_v<Edit> || std::is_pointer_v<Edit>;

// Edits the object there, if there is one.
template <class Edit, class... Args>
void EditObject(json::object& parent, std::string_view name, Edit edit, const Args&... args) {
  static_assert(kCapturesNothing<Edit>, "an edit must not reach the parent of what it edits");
  Json* found = parent.if_contains(name);
  if (found != nullptr && found->is_object()) edit(found->get_object(), args...);
}

// Makes an object there if nothing or null is.
inline void MakeObject(json::object& parent, std::string_view name) {
  Json& value = parent[name];
  if (value.is_null()) value.emplace_object();
}

// The same, and edits it. What is no object is left alone.
template <class Edit, class... Args>
void MakeObject(json::object& parent, std::string_view name, Edit edit, const Args&... args) {
  MakeObject(parent, name);
  EditObject(parent, name, edit, args...);
}

// Removes the object there and returns it; empty if there is none.
inline json::object TakeObject(json::object& parent, std::string_view name) {
  json::object taken;
  if (Json* found = parent.if_contains(name); found != nullptr && found->is_object()) {
    taken = std::move(found->get_object());
    parent.erase(name);
  }
  return taken;
}

// As kube::Equal. Not ==, for which Boost.JSON copies the members, those within them again, and so
// on: deep documents would take as many copies of all that is in them as they have levels.
inline bool SameMembers(const json::object& a, const json::object& b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const auto& member) {
           const Json* other = b.if_contains(member.key());
           return other != nullptr && kube::Equal(member.value(), *other);
         });
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

// Edits every object in a list of objects.
template <class Edit, class... Args>
void ForEachObject(json::object& parent, std::string_view list, Edit edit, const Args&... args) {
  static_assert(kCapturesNothing<Edit>, "an edit must not reach the parent of what it edits");
  Json* items = parent.if_contains(list);
  if (items == nullptr || !items->is_array()) return;
  for (Json& item : items->get_array()) {
    if (item.is_object()) edit(item.get_object(), args...);
  }
}

}  // namespace koord::apiserver
