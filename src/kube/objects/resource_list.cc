#include "kube/objects/resource_list.h"

#include <algorithm>

namespace koord::kube {

Quantity AmountOf(const ResourceList& list, std::string_view name) {
  const auto found = list.find(name);
  return found == list.end() ? Quantity() : found->second;
}

void AddTo(ResourceList& sum, const ResourceList& more) {
  for (const auto& [name, amount] : more) sum[name] += amount;
}

void SubtractFrom(ResourceList& rest, const ResourceList& less) {
  for (const auto& [name, amount] : less) rest[name] -= amount;
}

void RaiseTo(ResourceList& list, const ResourceList& at_least) {
  for (const auto& [name, amount] : at_least) {
    const auto [entry, inserted] = list.try_emplace(name, amount);
    if (!inserted && entry->second < amount) entry->second = amount;
  }
}

bool IsZero(const ResourceList& list) {
  return std::ranges::all_of(list, [](const auto& entry) { return entry.second.IsZero(); });
}

bool FitsIn(const ResourceList& need, const ResourceList& have) {
  return std::ranges::all_of(need, [&](const auto& entry) {
    const auto found = have.find(entry.first);
    return found == have.end() ? entry.second.Sign() <= 0 : entry.second <= found->second;
  });
}

}  // namespace koord::kube

KOORD_DEFINE_CODEC(koord::kube::ResourceRequirements);
