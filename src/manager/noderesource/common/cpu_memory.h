#pragma once
#include <algorithm>
#include <cstdint>

#include "kube/objects/resource_list.h"
#include "kube/quantity.h"

namespace koord::manager {

// The two resources that co-location is about, exact.
struct CpuMemory {
  kube::Quantity cpu;
  kube::Quantity memory;

  CpuMemory& operator+=(const CpuMemory& other) {
    cpu += other.cpu;
    memory += other.memory;
    return *this;
  }
  CpuMemory& operator-=(const CpuMemory& other) {
    cpu -= other.cpu;
    memory -= other.memory;
    return *this;
  }
  friend CpuMemory operator+(CpuMemory a, const CpuMemory& b) { return a += b; }
  friend CpuMemory operator-(CpuMemory a, const CpuMemory& b) { return a -= b; }
  bool operator==(const CpuMemory&) const = default;
};

// What a list says of them; nothing counts as zero.
CpuMemory CpuMemoryOf(const kube::ResourceList& list);

CpuMemory Max(const CpuMemory& a, const CpuMemory& b);
CpuMemory AtLeastZero(const CpuMemory& amounts);

// A share of an amount, in whole thousandths or in whole units; fractions are dropped.
kube::Quantity ScaleMilli(const kube::Quantity& amount, double factor);
kube::Quantity ScaleInt(const kube::Quantity& amount, double factor);
// One of so many equal parts, rounded up to thousandths.
CpuMemory Divide(const CpuMemory& amounts, int64_t parts);
// The next whole number.
kube::Quantity RoundUp(const kube::Quantity& amount);

// Whether a new amount is so far from the old one that it is worth a write: by more than this share
// of the old. Anything differs from nothing.
bool IsResourceDifferent(const kube::Quantity& before, const kube::Quantity& after,
                         double threshold);

}  // namespace koord::manager
