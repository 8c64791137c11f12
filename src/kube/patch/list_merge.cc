#include "kube/patch/list_merge.h"

#include <algorithm>
#include <optional>

#include "base/string_map.h"

namespace koord::kube::patch_internal {
namespace {

using Positions = StringMap<size_t>;

Positions FirstPositions(const std::vector<std::string>& identities) {
  Positions positions;
  for (size_t i = 0; i < identities.size(); ++i) {
    if (!identities[i].empty()) positions.try_emplace(identities[i], i);
  }
  return positions;
}

std::optional<size_t> PositionOf(const Positions& positions, const std::string& identity) {
  const auto it = positions.find(identity);
  if (it == positions.end()) return {};
  return it->second;
}

// An element with its places in the two lists that decide.
struct Placed {
  size_t element;  // in the merged list
  std::optional<size_t> ordered;
  std::optional<size_t> reference;
};

bool StandsBefore(const Placed& other, const Placed& named) {
  return other.reference && named.reference && *other.reference < *named.reference;
}

}  // namespace

std::string Identity(const Json& element, std::string_view merge_key) {
  if (merge_key.empty()) return Serialize(element);
  const json::object* object = element.if_object();
  const Json* key = object == nullptr ? nullptr : object->if_contains(merge_key);
  return key == nullptr ? std::string() : Serialize(*key);
}

std::vector<std::string> Identities(const json::array& elements, std::string_view merge_key) {
  std::vector<std::string> identities;
  identities.reserve(elements.size());
  for (const Json& element : elements) identities.push_back(Identity(element, merge_key));
  return identities;
}

void OrderMerged(json::array& merged, std::string_view merge_key,
                 const std::vector<std::string>& order, const std::vector<std::string>& reference) {
  const Positions in_order = FirstPositions(order);
  const Positions in_reference = FirstPositions(reference);
  std::vector<Placed> named;
  std::vector<Placed> others;
  for (size_t i = 0; i < merged.size(); ++i) {
    const std::string identity = Identity(merged[i], merge_key);
    const Placed placed{i, PositionOf(in_order, identity), PositionOf(in_reference, identity)};
    (placed.ordered ? named : others).push_back(placed);
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const Placed& a, const Placed& b) { return *a.ordered < *b.ordered; });

  json::array sorted;
  sorted.reserve(merged.size());
  auto other = others.begin();
  const auto take = [&](const Placed& placed) {
    sorted.push_back(std::move(merged[placed.element]));
  };
  for (const Placed& next : named) {
    while (other != others.end() && StandsBefore(*other, next)) take(*other++);
    take(next);
  }
  while (other != others.end()) take(*other++);
  merged = std::move(sorted);
}

bool IsInOrder(const std::vector<std::string>& items, const std::vector<std::string>& order) {
  auto at = order.begin();
  for (const std::string& item : items) {
    at = std::find(at, order.end(), item);
    if (at == order.end()) return false;
    ++at;
  }
  return true;
}

}  // namespace koord::kube::patch_internal
