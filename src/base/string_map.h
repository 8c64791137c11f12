#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <functional>
#include <string>
#include <string_view>

namespace koord {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

// Hash containers that are searched by string_view without making a string. Iteration order is
// arbitrary: never let it reach a decision or an output.
template <class V>
using StringMap = absl::flat_hash_map<std::string, V, StringHash, std::equal_to<>>;
using StringSet = absl::flat_hash_set<std::string, StringHash, std::equal_to<>>;

}  // namespace koord
