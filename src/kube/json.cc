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

std::string_view FindString(const Json& value, std::initializer_list<std::string_view> path,
                            std::string_view otherwise) {
  const Json* found = Find(value, path);
  if (found == nullptr || !found->is_string()) return otherwise;
  return {found->get_string().data(), found->get_string().size()};
}

int64_t FindInt(const Json& value, std::initializer_list<std::string_view> path,
                int64_t otherwise) {
  const Json* found = Find(value, path);
  if (found == nullptr) return otherwise;
  json::error_code error;
  const auto number = found->to_number<int64_t>(error);
  return error ? otherwise : number;
}

bool FindBool(const Json& value, std::initializer_list<std::string_view> path, bool otherwise) {
  const Json* found = Find(value, path);
  return found != nullptr && found->is_bool() ? found->get_bool() : otherwise;
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

bool Equal(const Json& a, const Json& b) { return a == b; }

}  // namespace koord::kube
