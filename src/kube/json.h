#pragma once
#include <boost/json.hpp>
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

// Whether a document that was put together from others is nested deeper than it may be.
bool IsTooDeep(const Json& value, size_t limit = kMaxJsonDepth);

inline std::string Serialize(const Json& value) { return json::serialize(value); }

// Walks object members; null if any is missing or not an object. Find(pod, {"spec", "nodeName"})
const Json* Find(const Json& value, std::initializer_list<std::string_view> path);
Json* Find(Json& value, std::initializer_list<std::string_view> path);

// The string, integer, ... there, or the default if it is missing or of another type.
std::string_view FindString(const Json& value, std::initializer_list<std::string_view> path,
                            std::string_view otherwise = {});
int64_t FindInt(const Json& value, std::initializer_list<std::string_view> path,
                int64_t otherwise = 0);
bool FindBool(const Json& value, std::initializer_list<std::string_view> path,
              bool otherwise = false);
const json::object* FindObject(const Json& value, std::initializer_list<std::string_view> path);
const json::array* FindArray(const Json& value, std::initializer_list<std::string_view> path);

// The object member at path, made (with the objects above it) where it is missing. A parent of
// another type is replaced.
Json& At(Json& value, std::initializer_list<std::string_view> path);

// By value: 1 and 1u are equal, the order of members does not matter.
bool Equal(const Json& a, const Json& b);

}  // namespace koord::kube
