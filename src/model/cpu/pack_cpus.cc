#include "model/cpu/pack_cpus.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace koord::model {
namespace {

// Something made of processors. Numbers are those of what it is in, from the outside: socket, NUMA
// node, core.
struct Unit {
  std::vector<int32_t> ids;
  CpuSet free;
  size_t total = 0;
};

class Taker {
 public:
  Taker(const CpuTopology& topology, int64_t count)
      : topology_(topology), left_(static_cast<size_t>(count)) {}

  CpuSet Take() {
    for (size_t depth = 1; depth <= 3; ++depth) TakeWhole(depth);
    TakeSingle();
    return std::move(taken_);
  }

 private:
  using Path = std::vector<int32_t>;

  static Path PathOf(const Processor& each, size_t depth) {
    Path path{each.socket, each.node, each.core};
    path.resize(depth);
    return path;
  }

  // Units of a depth in the order in which they are taken: inside the order of what they are in.
  std::vector<Unit> Sorted(size_t depth) const {
    std::map<Path, size_t> free_of;  // of units at every depth
    std::map<Path, Unit> units;
    for (const Processor& each : topology_.processors()) {
      const bool is_free = !taken_.Contains(each.cpu);
      for (size_t above = 1; above <= depth; ++above) free_of[PathOf(each, above)] += is_free;
      Unit& unit = units[PathOf(each, depth)];
      unit.ids = PathOf(each, depth);
      ++unit.total;
      if (is_free) unit.free.Add(each.cpu);
    }
    const auto rank = [&](const Unit& unit) {
      std::vector<std::pair<size_t, int32_t>> order;
      for (size_t above = 1; above <= depth; ++above) {
        const Path path(unit.ids.begin(), unit.ids.begin() + static_cast<ptrdiff_t>(above));
        order.emplace_back(free_of.at(path), path.back());
      }
      return order;
    };
    std::vector<Unit> sorted;
    for (auto& [path, unit] : units) sorted.push_back(std::move(unit));
    std::sort(sorted.begin(), sorted.end(),
              [&](const Unit& a, const Unit& b) { return rank(a) < rank(b); });
    return sorted;
  }

  void TakeWhole(size_t depth) {
    if (left_ == 0) return;
    for (const Unit& unit : Sorted(depth)) {
      if (unit.free.size() != unit.total || unit.total > left_) continue;
      taken_ |= unit.free;
      left_ -= unit.total;
    }
  }

  void TakeSingle() {
    if (left_ == 0) return;
    for (const Unit& core : Sorted(3)) {
      for (const int32_t cpu : core.free) {
        if (left_ == 0) return;
        taken_.Add(cpu);
        --left_;
      }
    }
  }

  const CpuTopology& topology_;
  size_t left_;
  CpuSet taken_;
};

}  // namespace

StatusOr<CpuSet> PackCpus(const CpuTopology& topology, int64_t count) {
  if (count <= 0) return CpuSet();
  const size_t all = topology.processors().size();
  if (count > static_cast<int64_t>(all)) {
    return InvalidArgument("{} processors are wanted, there are {}", count, all);
  }
  return Taker(topology, count).Take();
}

}  // namespace koord::model
