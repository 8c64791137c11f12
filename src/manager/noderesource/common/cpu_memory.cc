#include "manager/noderesource/common/cpu_memory.h"

#include <cmath>
#include <limits>

namespace koord::manager {
namespace {

using kube::Quantity;

// What doubles can no longer count is as much as there can be.
int64_t Truncate(double value) {
  constexpr double kTooLarge = 9223372036854775808.0;
  if (value >= kTooLarge) return std::numeric_limits<int64_t>::max();
  if (value <= -kTooLarge) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

Quantity DivideOne(const Quantity& amount, int64_t parts) {
  const int64_t milli = amount.MilliValue();
  const int64_t rest = milli > 0 && milli % parts != 0 ? 1 : 0;
  return Quantity::FromMilli(milli / parts + rest, amount.format());
}

}  // namespace

CpuMemory CpuMemoryOf(const kube::ResourceList& list) {
  return {kube::AmountOf(list, kube::kCpu), kube::AmountOf(list, kube::kMemory)};
}

CpuMemory Max(const CpuMemory& a, const CpuMemory& b) {
  return {std::max(a.cpu, b.cpu), std::max(a.memory, b.memory)};
}

CpuMemory AtLeastZero(const CpuMemory& amounts) {
  const auto floor = [](const Quantity& amount) {
    return amount.Sign() < 0 ? Quantity(0, amount.format()) : amount;
  };
  return {floor(amounts.cpu), floor(amounts.memory)};
}

Quantity ScaleMilli(const Quantity& amount, double factor) {
  return Quantity::FromMilli(Truncate(static_cast<double>(amount.MilliValue()) * factor),
                             amount.format());
}

Quantity ScaleInt(const Quantity& amount, double factor) {
  return Quantity(Truncate(static_cast<double>(amount.Value()) * factor), amount.format());
}

CpuMemory Divide(const CpuMemory& amounts, int64_t parts) {
  if (parts <= 0) return amounts;
  return {DivideOne(amounts.cpu, parts), DivideOne(amounts.memory, parts)};
}

Quantity RoundUp(const Quantity& amount) {
  const Quantity whole(amount.Value(), amount.format());
  return whole == amount ? amount : whole;
}

bool IsResourceDifferent(const Quantity& before, const Quantity& after, double threshold) {
  const auto old_value = static_cast<double>(before.MilliValue());
  const auto new_value = static_cast<double>(after.MilliValue());
  return std::abs(new_value - old_value) > old_value * threshold;
}

}  // namespace koord::manager
