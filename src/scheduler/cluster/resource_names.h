#pragma once
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/objects/resource_list.h"
#include "scheduler/cluster/counted_texts.h"

namespace koord::scheduler {

// A resource by number, so that amounts stand in columns. A name keeps its number as long as a
// shape, a pod or a node that uses it is there, or the configuration names it.
using ResourceId = CountedTexts::Id;
using ResourceHold = CountedTexts::Hold;
inline constexpr ResourceId kCpuId = 0;  // in milli-cores; everything else in whole units
inline constexpr ResourceId kMemoryId = 1;
inline constexpr ResourceId kEphemeralStorageId = 2;
inline constexpr ResourceId kFirstScalarId = 3;

struct ResourceAmount {
  ResourceId id;
  int64_t amount;

  bool operator==(const ResourceAmount&) const = default;
};

// What a pod asks for or a node has: ascending ids, no duplicates.
using ResourceAmounts = absl::InlinedVector<ResourceAmount, 4>;

inline int64_t AmountOf(const ResourceAmounts& amounts, ResourceId id) {
  for (const ResourceAmount& each : amounts) {
    if (each.id == id) return each.amount;
  }
  return 0;
}
void AddTo(ResourceAmounts& sum, const ResourceAmounts& more, int sign = 1);
void DropZeros(ResourceAmounts& amounts);

class ResourceNames {
 public:
  ResourceNames();

  // For names in the configuration, which stay.
  ResourceId Intern(std::string_view name) { return names_.Intern(name); }
  // The number of a name that is in use.
  std::optional<ResourceId> Find(std::string_view name) const { return names_.Find(name); }
  const std::string& NameOf(ResourceId id) const { return names_.TextOf(id); }
  size_t size() const { return names_.size(); }  // ids are below this
  size_t used() const { return names_.used(); }

  // The resources that are accounted for: cpu, memory, ephemeral storage, hugepages, attachable
  // volumes and names with a domain. `pods` and unknown plain names are left out. The ids are good
  // as long as the hold is.
  ResourceAmounts AmountsIn(const kube::ResourceList& list, ResourceHold& hold);

 private:
  CountedTexts names_;
};

}  // namespace koord::scheduler
