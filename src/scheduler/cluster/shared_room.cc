#include "scheduler/cluster/shared_room.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

struct Use {
  ResourceAmounts amounts;
  int64_t non_zero_cpu = 0;
  int64_t non_zero_memory = 0;
  int64_t pods = 0;
};

Use UseOf(const std::string& reservation, std::span<const PodInfo* const> pods) {
  Use use;
  for (const PodInfo* pod : pods) {
    if (!MayShare(*pod) || !pod->held->draws_from) continue;
    if (pod->held->draws_from->uid != reservation) continue;
    AddTo(use.amounts, pod->requests());
    use.non_zero_cpu += pod->non_zero_cpu();
    use.non_zero_memory += pod->non_zero_memory();
    ++use.pods;
  }
  return use;
}

int64_t Common(int64_t reserved, int64_t used) {
  return std::max<int64_t>(0, std::min(reserved, used));
}

}  // namespace

SharedRoom SharedBy(std::span<const PodInfo* const> pods) {
  SharedRoom shared;
  for (const PodInfo* pod : pods) {
    if (!MayShare(*pod) || !pod->held->reserves) continue;
    const Use use = UseOf(pod->held->reserves->uid, pods);
    ResourceAmounts common;
    for (const auto& [id, reserved] : pod->requests()) {
      if (const int64_t both = Common(reserved, AmountOf(use.amounts, id)); both != 0) {
        common.push_back({id, both});
      }
    }
    AddTo(shared.amounts, common);
    // What containers count as that say nothing is not reserved.
    if (AmountOf(pod->requests(), kCpuId) > 0) {
      shared.non_zero_cpu += Common(pod->non_zero_cpu(), use.non_zero_cpu);
    }
    if (AmountOf(pod->requests(), kMemoryId) > 0) {
      shared.non_zero_memory += Common(pod->non_zero_memory(), use.non_zero_memory);
    }
    shared.places += Common(1, use.pods);
  }
  return shared;
}

}  // namespace koord::scheduler
