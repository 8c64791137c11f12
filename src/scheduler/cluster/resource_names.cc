#include "scheduler/cluster/resource_names.h"

namespace koord::scheduler {
namespace {

bool IsAccountedFor(std::string_view name) {
  return name == kube::kCpu || name == kube::kMemory || name == kube::kEphemeralStorage ||
         name.starts_with(kube::kHugePagesPrefix) || name.starts_with("attachable-volumes-") ||
         name.find('/') != std::string_view::npos;
}

}  // namespace

void AddTo(ResourceAmounts& sum, const ResourceAmounts& more, int sign) {
  for (const ResourceAmount& each : more) {
    const auto at = std::ranges::lower_bound(sum, each.id, {}, &ResourceAmount::id);
    if (at != sum.end() && at->id == each.id) {
      at->amount += sign * each.amount;
    } else {
      sum.insert(at, {each.id, sign * each.amount});
    }
  }
}

void DropZeros(ResourceAmounts& amounts) {
  amounts.erase(std::remove_if(amounts.begin(), amounts.end(),
                               [](const ResourceAmount& each) { return each.amount == 0; }),
                amounts.end());
}

ResourceNames::ResourceNames() {
  Intern(kube::kCpu);
  Intern(kube::kMemory);
  Intern(kube::kEphemeralStorage);
}

ResourceAmounts ResourceNames::AmountsIn(const kube::ResourceList& list, ResourceHold& hold) {
  ResourceAmounts amounts;
  for (const auto& [name, amount] : list) {
    if (!IsAccountedFor(name)) continue;
    const ResourceId id = names_.Intern(name, hold);
    amounts.push_back({id, id == kCpuId ? amount.MilliValue() : amount.Value()});
  }
  std::ranges::sort(amounts, {}, &ResourceAmount::id);
  return amounts;
}

}  // namespace koord::scheduler
