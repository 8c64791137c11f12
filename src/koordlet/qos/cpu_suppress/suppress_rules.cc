#include "koordlet/qos/cpu_suppress/suppress_rules.h"

#include <absl/container/btree_map.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "koordlet/host/cgroups.h"
#include "koordlet/qos/framework/amounts.h"

namespace koord::koordlet {
namespace {

// The processors of one NUMA node, in the order in which they are taken.
class Bucket {
 public:
  explicit Bucket(std::vector<Processor> processors)
      : processors_(std::move(processors)), used_(processors_.size()) {
    std::sort(processors_.begin(), processors_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.core, a.cpu) < std::tie(b.core, b.cpu);
    });
  }

  size_t size() const { return processors_.size(); }
  int32_t first() const { return processors_.front().cpu; }

  // Two neighbours of one core.
  bool TakePair(CpuSet& taken) {
    for (size_t i = 0; i + 1 < size(); ++i) {
      if (used_[i] || used_[i + 1] || processors_[i].core != processors_[i + 1].core) continue;
      Take(i, taken);
      Take(i + 1, taken);
      return true;
    }
    return false;
  }
  bool TakeOne(CpuSet& taken) {
    const auto free = std::find(used_.begin(), used_.end(), false);
    if (free == used_.end()) return false;
    Take(static_cast<size_t>(free - used_.begin()), taken);
    return true;
  }

 private:
  void Take(size_t i, CpuSet& taken) {
    used_[i] = true;
    taken.Add(processors_[i].cpu);
  }

  std::vector<Processor> processors_;
  std::vector<bool> used_;
};

std::vector<Bucket> MakeBuckets(const std::vector<Processor>& from) {
  absl::btree_map<int64_t, std::vector<Processor>> by_place;
  const auto count = static_cast<int64_t>(from.size());
  for (const Processor& p : from) {
    by_place[(p.node + count) * (static_cast<int64_t>(p.socket) + 1)].push_back(p);
  }
  std::vector<Bucket> buckets;
  for (auto& [place, processors] : by_place) buckets.emplace_back(std::move(processors));
  std::sort(buckets.begin(), buckets.end(), [](const Bucket& a, const Bucket& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.first() < b.first();
  });
  return buckets;
}

// Goes around the buckets from `at` on while `wanted` holds, until a whole round has taken nothing.
// Returns where it stopped.
template <class Wanted, class TakeFrom>
size_t GoAround(std::vector<Bucket>& buckets, size_t at, Wanted wanted, TakeFrom take_from) {
  const size_t start = at;
  bool took = true;
  while (wanted()) {
    if (at == start && !std::exchange(took, false)) break;
    if (take_from(buckets[at])) took = true;
    at = (at + 1) % buckets.size();
  }
  return at;
}

}  // namespace

MilliCpu BeCpuLeft(MilliCpu capacity, int64_t threshold_percent, std::optional<int64_t> min_percent,
                   const NodeCpuUse& use) {
  const double system = std::max({use.node - use.pods - use.host_apps, 0.0, use.reserved});
  MilliCpu be = PercentOf(capacity, threshold_percent);
  be -= MilliCpu::OfCores(use.pods_not_be);
  be -= MilliCpu::OfCores(use.host_apps_not_be);
  be -= MilliCpu::OfCores(system);
  if (min_percent) be = std::max(be, PercentOf(capacity, *min_percent));
  return std::min(be, capacity);
}

std::optional<int64_t> NextBeQuota(MilliCpu be, Limit current, int64_t capacity_cpus) {
  const int64_t wanted = std::max(Scale(be.value(), kCpuPeriodMicros, 1000), kMinBeQuotaMicros);
  if (current.unlimited()) return wanted;
  const int64_t node = Scale(capacity_cpus, kCpuPeriodMicros, 1);
  const int64_t change = Minus(wanted, current.value());
  const auto size = change < 0 ? -static_cast<__int128>(change) : change;
  if (size < node / 100 && wanted != kMinBeQuotaMicros) return std::nullopt;
  if (change > node / 10) return std::max(Plus(current.value(), node / 10), kMinBeQuotaMicros);
  return wanted;
}

int64_t NextBeCpuCount(MilliCpu be, int64_t current_cpus, int64_t all_cpus) {
  const int64_t wanted = std::max(CeilDivide(be.value(), 1000), kMinBeCpus);
  const int64_t step = CeilDivide(all_cpus, 10);
  return wanted - current_cpus > step ? std::max(current_cpus + step, kMinBeCpus) : wanted;
}

CpuSet PickCpus(int64_t count, std::vector<Processor> from) {
  if (count <= 0 || static_cast<int64_t>(from.size()) < count) return {};
  std::vector<Bucket> buckets = MakeBuckets(from);
  CpuSet taken;
  const auto need = [&] { return count - static_cast<int64_t>(taken.size()); };
  const size_t stopped = GoAround(
      buckets, 0, [&] { return need() > 1; }, [&](Bucket& b) { return b.TakePair(taken); });
  GoAround(
      buckets, stopped, [&] { return need() > 0; }, [&](Bucket& b) { return b.TakeOne(taken); });
  return taken;
}

CpuSet ChooseBeCpus(int64_t count, const std::vector<Processor>& of_lsr,
                    const std::vector<Processor>& shared) {
  const auto all = static_cast<int64_t>(of_lsr.size() + shared.size());
  if (all == 0) return {};
  const int64_t from_lsr = Scale(count, static_cast<int64_t>(of_lsr.size()), all);
  CpuSet chosen = PickCpus(from_lsr, of_lsr) | PickCpus(count - from_lsr, shared);
  // Where only a part of the wanted ones could be had, less than the floor may be left.
  if (static_cast<int64_t>(chosen.size()) < kMinBeCpus) chosen.Clear();
  return chosen;
}

}  // namespace koord::koordlet
