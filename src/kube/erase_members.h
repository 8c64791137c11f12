#pragma once
#include <algorithm>
#include <utility>

#include "kube/json.h"

namespace koord::kube {

// Removes the members for which `doomed` holds; the others keep their order. Takes time in
// proportion to the size of the object, however many go: stable_erase alone moves everything behind
// a member each time.
template <class Doomed>
void EraseMembers(json::object& object, const Doomed& doomed) {
  constexpr size_t kFewMoves = 1024;
  const auto count = static_cast<size_t>(std::count_if(object.begin(), object.end(), doomed));
  if (count == 0) return;
  if (count * object.size() <= kFewMoves) {
    for (auto it = object.begin(); it != object.end();) {
      it = doomed(*it) ? object.stable_erase(it) : it + 1;
    }
    return;
  }
  json::object kept(object.storage());
  kept.reserve(object.size() - count);
  for (auto& member : object) {
    if (!doomed(member)) kept.insert(std::move(member));
  }
  object = std::move(kept);
}

inline void EraseNullMembers(json::object& object) {
  EraseMembers(object, [](const auto& member) { return member.value().is_null(); });
}

}  // namespace koord::kube
