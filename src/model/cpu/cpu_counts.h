#pragma once
#include <cstddef>
#include <vector>

#include "base/cpu_set.h"

namespace koord::model {

// How many hold each CPU. In nearly all cases one does, and then this is one set.
class CpuCounts {
 public:
  void Add(const CpuSet& cpus);
  // One holder less of each; of CPUs that nobody holds nothing becomes of it.
  void Remove(const CpuSet& cpus);

  size_t CountOf(int32_t cpu) const;
  // Those with at least this many holders, which is at least one.
  const CpuSet& AtLeast(size_t holders) const;
  const CpuSet& held() const { return AtLeast(1); }
  bool empty() const { return layers_.empty(); }

  bool operator==(const CpuCounts&) const = default;

 private:
  std::vector<CpuSet> layers_;  // [i]: those with more than i holders; none is empty
};

}  // namespace koord::model
