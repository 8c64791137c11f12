#include "kube/json.h"

#include <algorithm>
#include <cmath>

namespace koord::kube {
namespace {

template <class Value>
Value* Walk(Value& value, std::initializer_list<std::string_view> path) {
  Value* at = &value;
  for (const std::string_view name : path) {
    auto* object = at->if_object();
    if (object == nullptr) return nullptr;
    at = object->if_contains(name);
    if (at == nullptr) return nullptr;
  }
  return at;
}

}  // namespace

bool IsTooDeep(const Json& value, size_t limit) {
  const auto too_deep = [&](const Json& child) { return IsTooDeep(child, limit - 1); };
  if (const json::array* array = value.if_array()) {
    return limit == 0 || std::any_of(array->begin(), array->end(), too_deep);
  }
  const json::object* object = value.if_object();
  return object != nullptr &&
         (limit == 0 || std::any_of(object->begin(), object->end(),
                                    [&](const auto& member) { return too_deep(member.value()); }));
}

namespace {

// A number beyond what a double holds is read as infinity, which no JSON text can express.
bool HasInfinity(const Json& value) {
  if (const double* number = value.if_double()) return !std::isfinite(*number);
  if (const json::array* array = value.if_array()) {
    return std::any_of(array->begin(), array->end(), HasInfinity);
  }
  const json::object* object = value.if_object();
  return object != nullptr && std::any_of(object->begin(), object->end(), [](const auto& member) {
           return HasInfinity(member.value());
         });
}

StatusOr<Json> ParseInto(std::string_view text, json::storage_ptr memory) {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::error_code error;
  Json value = json::parse({text.data(), text.size()}, error, std::move(memory), options);
  if (error) return InvalidArgument("invalid JSON: {}", error.message());
  if (HasInfinity(value)) return InvalidArgument("invalid JSON: number out of range");
  return value;
}

}  // namespace

StatusOr<Json> ParseJson(std::string_view text) { return ParseInto(text, {}); }

StatusOr<Json> ParseShortLivedJson(std::string_view text) {
  // What most of our objects take, so that one block does.
  const size_t room = 3 * text.size();
  return ParseInto(text, json::make_shared_resource<json::monotonic_resource>(room));
}

const Json* Find(const Json& value, std::initializer_list<std::string_view> path) {
  return Walk(value, path);
}

Json* Find(Json& value, std::initializer_list<std::string_view> path) { return Walk(value, path); }

std::optional<JsonView> Find(JsonView value, std::initializer_list<std::string_view> path) {
  std::optional<JsonView> at = value;
  for (const std::string_view name : path) {
    const std::optional<JsonMembers> members = at->if_object();
    at = members ? members->Find(name) : std::nullopt;
    if (!at) break;
  }
  return at;
}

std::string_view FindString(JsonView value, std::initializer_list<std::string_view> path,
                            std::string_view otherwise) {
  const std::optional<JsonView> found = Find(value, path);
  return found && found->is_string() ? found->get_string() : otherwise;
}

int64_t FindInt(JsonView value, std::initializer_list<std::string_view> path, int64_t otherwise) {
  const std::optional<JsonView> found = Find(value, path);
  if (!found) return otherwise;
  json::error_code error;
  const auto number = found->to_number<int64_t>(error);
  return error ? otherwise : number;
}

bool FindBool(JsonView value, std::initializer_list<std::string_view> path, bool otherwise) {
  const std::optional<JsonView> found = Find(value, path);
  return found && found->is_bool() ? found->get_bool() : otherwise;
}

const json::object* FindObject(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* found = Find(value, path);
  return found == nullptr ? nullptr : found->if_object();
}

const json::array* FindArray(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* found = Find(value, path);
  return found == nullptr ? nullptr : found->if_array();
}

Json& At(Json& value, std::initializer_list<std::string_view> path) {
  Json* at = &value;
  for (const std::string_view name : path) {
    if (!at->is_object()) *at = json::object();
    at = &at->get_object()[name];
  }
  return *at;
}

// Most objects that are compared were made from each other, with their members in one order: these
// are found where they are expected, and looked up only where something else stands.
bool Equal(const Json& a, const Json& b) {
  const json::object *left = a.if_object(), *right = b.if_object();
  if (left != nullptr && right != nullptr) {
    if (left->size() != right->size()) return false;
    auto expected = right->begin();
    for (const auto& member : *left) {
      const bool is_there = expected->key() == member.key();
      const Json* const other = is_there ? &expected->value() : right->if_contains(member.key());
      ++expected;
      if (other == nullptr || !Equal(member.value(), *other)) return false;
    }
    return true;
  }
  const json::array *first = a.if_array(), *second = b.if_array();
  if (first != nullptr && second != nullptr) return std::ranges::equal(*first, *second, Equal);
  return a == b;
}

}  // namespace koord::kube
