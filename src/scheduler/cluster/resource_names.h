#pragma once
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "kube/objects/resource_list.h"

namespace koord::scheduler {

// A resource by number, so that amounts stand in columns. The same name has the same number as long
// as the scheduler runs.
using ResourceId = uint16_t;
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

  ResourceId Intern(std::string_view name);
  // The number of a name that was interned before.
  std::optional<ResourceId> Find(std::string_view name) const;
  const std::string& NameOf(ResourceId id) const { return names_[id]; }
  size_t size() const { return names_.size(); }

  // The resources that are accounted for: cpu, memory, ephemeral storage, hugepages, attachable
  // volumes and names with a domain. `pods` and unknown plain names are left out.
  ResourceAmounts AmountsIn(const kube::ResourceList& list);

 private:
  std::vector<std::string> names_;
  StringMap<ResourceId> ids_;
};

}  // namespace koord::scheduler
