#pragma once
#include <boost/json.hpp>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

// The untyped document: what we keep of objects that have no struct, and what the API server works
// on.
namespace koord::kube {

namespace json = boost::json;
using Json = json::value;

// Nesting is bounded so that parsing, copying and destroying hostile input cannot exhaust the
// stack.
inline constexpr size_t kMaxJsonDepth = 64;

StatusOr<Json> ParseJson(std::string_view text);
// For a document that is looked at (or changed a little) and dropped: it is made in one piece of
// memory, which nothing in it gives back before all of it goes.
StatusOr<Json> ParseShortLivedJson(std::string_view text);

class JsonItems;
class JsonMembers;

// A document, or a part of one, that somebody else keeps, to be read where it lies: what
// std::string_view is to a text. A Json of one's own is made by Copy() alone. For a Json that is
// copied as such stays in the memory that the first was made in, and that of a watch event is gone
// after the call.
class JsonView {
 public:
  // From exactly a Json, for whatever else becomes one would be a temporary.
  template <std::same_as<Json> Value>
  JsonView(const Value& value) : value_(&value) {}  // NOLINT: as a string is viewed

  Json Copy() const { return Json(*value_, json::storage_ptr()); }

  json::kind kind() const { return value_->kind(); }
  bool is_null() const { return value_->is_null(); }
  bool is_bool() const { return value_->is_bool(); }
  bool is_number() const { return value_->is_number(); }
  bool is_double() const { return value_->is_double(); }
  bool is_string() const { return value_->is_string(); }

  // As it must be.
  bool get_bool() const { return value_->get_bool(); }
  double get_double() const { return value_->get_double(); }
  std::string_view get_string() const {
    return {value_->get_string().data(), value_->get_string().size()};
  }

  template <class Number>
  Number to_number(json::error_code& error) const {
    return value_->to_number<Number>(error);
  }
  std::optional<JsonItems> if_array() const;
  std::optional<JsonMembers> if_object() const;

 private:
  const Json* value_;
};

// The items of a list.
class JsonItems {
 public:
  class Iterator {
   public:
    explicit Iterator(const Json* at) : at_(at) {}
    JsonView operator*() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Json* at_;
  };

  explicit JsonItems(const json::array& items) : items_(&items) {}

  size_t size() const { return items_->size(); }
  Iterator begin() const { return Iterator(items_->begin()); }
  Iterator end() const { return Iterator(items_->end()); }

 private:
  const json::array* items_;
};

// The members of an object.
class JsonMembers {
 public:
  struct Member {
    std::string_view name;
    JsonView value;
  };
  class Iterator {
   public:
    explicit Iterator(json::object::const_iterator at) : at_(at) {}
    Member operator*() const { return {{at_->key().data(), at_->key().size()}, at_->value()}; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    json::object::const_iterator at_;
  };

  explicit JsonMembers(const json::object& members) : members_(&members) {}

  bool contains(std::string_view name) const { return members_->contains(name); }
  std::optional<JsonView> Find(std::string_view name) const {
    const Json* member = members_->if_contains(name);
    return member == nullptr ? std::nullopt : std::optional<JsonView>(*member);
  }
  Iterator begin() const { return Iterator(members_->begin()); }
  Iterator end() const { return Iterator(members_->end()); }

 private:
  const json::object* members_;
};

inline std::optional<JsonItems> JsonView::if_array() const {
  const json::array* items = value_->if_array();
  return items == nullptr ? std::nullopt : std::optional<JsonItems>(*items);
}

inline std::optional<JsonMembers> JsonView::if_object() const {
  const json::object* members = value_->if_object();
  return members == nullptr ? std::nullopt : std::optional<JsonMembers>(*members);
}

// Whether a document that was put together from others is nested deeper than it may be.
bool IsTooDeep(const Json& value, size_t limit = kMaxJsonDepth);

inline std::string Serialize(const Json& value) { return json::serialize(value); }

// Walks object members; null if any is missing or not an object. Find(pod, {"spec", "nodeName"})
const Json* Find(const Json& value, std::initializer_list<std::string_view> path);
Json* Find(Json& value, std::initializer_list<std::string_view> path);
std::optional<JsonView> Find(JsonView value, std::initializer_list<std::string_view> path);

// The string, integer, ... there, or the default if it is missing or of another type.
std::string_view FindString(JsonView value, std::initializer_list<std::string_view> path,
                            std::string_view otherwise = {});
int64_t FindInt(JsonView value, std::initializer_list<std::string_view> path,
                int64_t otherwise = 0);
bool FindBool(JsonView value, std::initializer_list<std::string_view> path, bool otherwise = false);
const json::object* FindObject(const Json& value, std::initializer_list<std::string_view> path);
const json::array* FindArray(const Json& value, std::initializer_list<std::string_view> path);

// The object member at path, made (with the objects above it) where it is missing. A parent of
// another type is replaced.
Json& At(Json& value, std::initializer_list<std::string_view> path);

// By value: 1 and 1u are equal, the order of members does not matter.
bool Equal(const Json& a, const Json& b);

}  // namespace koord::kube
