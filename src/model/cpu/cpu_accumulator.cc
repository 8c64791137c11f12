#include "model/cpu/cpu_accumulator.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace koord::model {
namespace {

using CpuList = std::vector<int32_t>;

// CPUs of one NUMA node or socket in the order in which they are given out.
struct UnitList {
  CpuList cpus;
  int64_t free = 0;    // what the strategy looks at: less is fuller
  int64_t nearby = 0;  // the same of the socket around
};

// How many of the CPUs each core has.
std::vector<uint16_t> CpusOfCores(const CpuTopology& topology, const CpuSet& cpus) {
  std::vector<uint16_t> counts(topology.cores().size(), 0);
  for (const int32_t cpu : cpus) {
    if (topology.Find(cpu) != nullptr) ++counts[topology.PlaceOf(cpu).core];
  }
  return counts;
}

class Accumulator {
 public:
  Accumulator(const CpuTopology& topology, const CpuSet& available, const CpuOccupancy& occupancy,
              const CpuRequest& request)
      : topology_(topology),
        occupancy_(occupancy),
        request_(request),
        free_(available & topology.cpus()),
        need_(request.count) {
    if (request_.exclusive == CpuExclusivePolicy::kPcpuLevel) {
      AvoidCoresOf(occupancy_.pcpu_exclusive.held() & topology_.cpus());
    }
    if (request_.exclusive == CpuExclusivePolicy::kNumaNodeLevel) {
      AvoidNodesOf(occupancy_.numa_exclusive.held() & topology_.cpus());
    }
  }

  StatusOr<CpuSet> Take() {
    if (need_ < 1) return CpuSet();
    if (need_ > static_cast<int64_t>(free_.size())) {
      return absl::ResourceExhaustedError("not enough cpus available to satisfy request");
    }
    const bool full = request_.bind == CpuBindPolicy::kFullPcpus;
    if (full || topology_.cpus_per_core() == 1) TakeWholeCores();
    if (!full && need_ > 0) TakeSpread();
    for (const bool considerate : {true, false}) {
      if (need_ > 0) TakeRemaining(considerate);
    }
    if (need_ > 0) return absl::InternalError("failed to allocate cpus");
    return std::move(result_);
  }

 private:
  using Unit = CpuTopology::Unit;
  using Place = CpuTopology::Place;

  // ---- What there is

  bool shared() const { return occupancy_.max_holders > 1; }
  int64_t by_strategy(int64_t free) const {
    return request_.strategy == NumaAllocateStrategy::kMostAllocated ? free : -free;
  }
  int64_t HoldersOf(const CpuSet& cpus) const {
    int64_t holders = 0;
    for (const int32_t cpu : cpus) {
      holders += static_cast<int64_t>(occupancy_.holders.CountOf(cpu));
    }
    return holders;
  }
  // By number of holders, where that is not the same for all, and number.
  CpuList Sorted(const CpuSet& cpus) const {
    CpuList list(cpus.begin(), cpus.end());
    if (shared()) {
      std::ranges::stable_sort(list, {},
                               [&](int32_t cpu) { return occupancy_.holders.CountOf(cpu); });
    }
    return list;
  }
  static int64_t CountIn(const CpuSet& cpus, const Unit& unit) {
    return static_cast<int64_t>((cpus & unit.cpus).size());
  }
  int64_t CountOnSocketOf(const CpuSet& cpus, const Unit& node) const {
    return CountIn(cpus, topology_.sockets()[topology_.PlaceOf(node).socket]);
  }
  void SortByStrategy(std::vector<UnitList>& lists) const {
    std::ranges::stable_sort(lists, {}, [&](const UnitList& list) {
      return std::pair(by_strategy(list.free), by_strategy(list.nearby));
    });
  }

  // CPUs on wholly free cores by NUMA node or socket, in the order of the units.
  std::vector<UnitList> WholeCoresBy(uint32_t Place::*unit, size_t units,
                                     const CpuSet& from) const {
    struct Core {
      CpuSet cpus;
      int64_t holders = 0;
    };
    std::vector<std::vector<Core>> cores(units);
    const std::vector<uint16_t> counts = CpusOfCores(topology_, from);
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] != topology_.cpus_per_core()) continue;
      const Unit& each = topology_.cores()[i];
      CpuSet cpus = from & each.cpus;
      const int64_t holders = shared() ? HoldersOf(cpus) : 0;
      cores[topology_.PlaceOf(each).*unit].push_back({std::move(cpus), holders});
    }
    std::vector<UnitList> lists(units);
    for (size_t i = 0; i < units; ++i) {
      std::ranges::stable_sort(cores[i], {}, &Core::holders);
      for (const Core& core : cores[i]) {
        lists[i].cpus.insert(lists[i].cpus.end(), core.cpus.begin(), core.cpus.end());
      }
      lists[i].free = std::ssize(lists[i].cpus);
    }
    return lists;
  }
  std::vector<UnitList> WholeCoresByNode(bool considerate) const {
    const CpuSet from = considerate ? free_ - avoided_nodes_ : free_;
    const auto& nodes = topology_.nodes();
    std::vector<UnitList> lists = WholeCoresBy(&Place::node, nodes.size(), from);
    for (size_t i = 0; i < nodes.size(); ++i) lists[i].nearby = CountOnSocketOf(from, nodes[i]);
    SortByStrategy(lists);
    return lists;
  }
  std::vector<UnitList> WholeCoresBySocket() const {
    std::vector<UnitList> lists = WholeCoresBy(&Place::socket, topology_.sockets().size(), free_);
    SortByStrategy(lists);
    return lists;
  }

  CpuList FirstOfEachCore(const CpuList& cpus) const {
    CpuList firsts;
    CpuSet seen;
    for (const int32_t cpu : cpus) {
      if (seen.Contains(cpu)) continue;
      firsts.push_back(cpu);
      seen |= topology_.cores()[topology_.PlaceOf(cpu).core].cpus;
    }
    return firsts;
  }
  std::vector<UnitList> CpusByNode(bool considerate) const {
    const CpuSet from = considerate ? free_ - avoided_cores_ - avoided_nodes_ : free_;
    std::vector<UnitList> lists;
    for (const Unit& node : topology_.nodes()) {
      CpuList cpus = Sorted(from & node.cpus);
      const int64_t free = std::ssize(cpus);
      if (considerate) cpus = FirstOfEachCore(cpus);
      lists.push_back({std::move(cpus), free, CountOnSocketOf(from, node)});
    }
    SortByStrategy(lists);
    return lists;
  }
  std::vector<UnitList> CpusBySocket(bool considerate) const {
    const CpuSet from = considerate ? free_ - avoided_cores_ : free_;
    std::vector<UnitList> lists;
    for (const Unit& socket : topology_.sockets()) {
      CpuList cpus = Sorted(from & socket.cpus);
      if (considerate) cpus = FirstOfEachCore(cpus);
      const int64_t free = std::ssize(cpus);
      lists.push_back({std::move(cpus), free, 0});
    }
    SortByStrategy(lists);
    return lists;
  }

  // All that is left: near to what was taken, where the strategy says, and on cores that are begun.
  CpuList Remaining(bool considerate) const {
    const CpuSet from = considerate ? free_ - avoided_cores_ - avoided_nodes_ : free_;
    struct UnitCounts {
      int64_t taken = 0;
      int64_t free = 0;
    };
    const auto count = [&](const std::vector<Unit>& units) {
      std::vector<UnitCounts> counts;
      for (const Unit& unit : units)
        counts.push_back({CountIn(result_, unit), CountIn(from, unit)});
      return counts;
    };
    const std::vector<UnitCounts> sockets = count(topology_.sockets());
    const std::vector<UnitCounts> nodes = count(topology_.nodes());
    struct Core {
      std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t> order;
      CpuSet cpus;
    };
    std::vector<Core> cores;
    for (const Unit& each : topology_.cores()) {
      CpuSet cpus = from & each.cpus;
      if (cpus.empty()) continue;
      const Place& at = topology_.PlaceOf(each);
      cores.push_back({{-sockets[at.socket].taken, by_strategy(sockets[at.socket].free),
                        by_strategy(nodes[at.node].free), static_cast<int64_t>(cpus.size()),
                        at.socket, shared() ? HoldersOf(cpus) : 0},
                       std::move(cpus)});
    }
    std::ranges::stable_sort(cores, {}, &Core::order);
    CpuList list;
    for (const Core& core : cores) {
      const CpuList cpus = Sorted(core.cpus);
      list.insert(list.end(), cpus.begin(), cpus.end());
    }
    return list;
  }

  // One thread of each core, then the second ones, and so on.
  CpuList Spread(CpuList cpus) const {
    if (std::ssize(cpus) <= topology_.cpus_per_core()) return cpus;
    std::vector<uint32_t> taken_of_core(topology_.cores().size());
    std::vector<std::pair<uint32_t, int32_t>> sweeps;
    for (const int32_t cpu : cpus) {
      sweeps.emplace_back(taken_of_core[topology_.PlaceOf(cpu).core]++, cpu);
    }
    std::ranges::stable_sort(sweeps, {}, &std::pair<uint32_t, int32_t>::first);
    for (size_t i = 0; i < cpus.size(); ++i) cpus[i] = sweeps[i].second;
    return cpus;
  }

  // ---- Taking

  void AvoidCoresOf(const CpuSet& cpus) {
    for (const int32_t cpu : cpus) {
      avoided_cores_ |= topology_.cores()[topology_.PlaceOf(cpu).core].cpus;
    }
  }
  void AvoidNodesOf(const CpuSet& cpus) {
    for (const int32_t cpu : cpus) {
      avoided_nodes_ |= topology_.nodes()[topology_.PlaceOf(cpu).node].cpus;
    }
  }
  void TakeFirst(const CpuList& list, int64_t count) {
    CpuSet taken;
    for (int64_t i = 0; i < count; ++i) taken.Add(list[i]);
    free_ -= taken;
    need_ -= count;
    if (request_.exclusive == CpuExclusivePolicy::kPcpuLevel) AvoidCoresOf(taken);
    if (request_.exclusive == CpuExclusivePolicy::kNumaNodeLevel) AvoidNodesOf(taken);
    result_ |= taken;
  }
  const UnitList* FirstWithEnough(const std::vector<UnitList>& lists) const {
    const auto found = std::ranges::find_if(
        lists, [&](const UnitList& list) { return std::ssize(list.cpus) >= need_; });
    return found == lists.end() ? nullptr : &*found;
  }

  void TakeWholeCores() {
    if (need_ <= topology_.cpus_per_node()) {
      for (const bool considerate : {true, false}) {
        const std::vector<UnitList> lists = WholeCoresByNode(considerate);
        if (const UnitList* list = FirstWithEnough(lists)) return TakeFirst(list->cpus, need_);
      }
    }
    std::vector<UnitList> lists = WholeCoresBySocket();
    if (need_ <= topology_.cpus_per_socket()) {
      if (const UnitList* list = FirstWithEnough(lists)) return TakeFirst(list->cpus, need_);
    }
    TakeWholeCoresOfSockets(std::move(lists));
  }

  // From the emptiest socket on all that is needed anyway; then single cores from the fullest on.
  void TakeWholeCoresOfSockets(std::vector<UnitList> lists) {
    std::ranges::stable_sort(lists, {}, [](const UnitList& list) { return -list.free; });
    std::vector<UnitList> larger;
    for (UnitList& list : lists) {
      if (std::ssize(list.cpus) <= need_) {
        TakeFirst(list.cpus, std::ssize(list.cpus));
      } else {
        larger.push_back(std::move(list));
      }
    }
    const int64_t per_core = topology_.cpus_per_core();
    std::ranges::stable_sort(larger, {}, &UnitList::free);
    for (const UnitList& list : larger) {
      const int64_t cores = std::min(need_, std::ssize(list.cpus)) / per_core;
      TakeFirst(list.cpus, cores * per_core);
    }
  }

  void TakeSpread() {
    const auto take_from_one = [&](const std::vector<UnitList>& lists) {
      const UnitList* list = FirstWithEnough(lists);
      if (list != nullptr) TakeFirst(Spread(list->cpus), need_);
      return list != nullptr;
    };
    if (need_ <= topology_.cpus_per_node()) {
      for (const bool considerate : {true, false}) {
        if (take_from_one(CpusByNode(considerate))) return;
      }
    }
    if (need_ <= topology_.cpus_per_socket()) {
      for (const bool considerate : {true, false}) {
        if (take_from_one(CpusBySocket(considerate))) return;
      }
    }
  }

  void TakeRemaining(bool considerate) {
    const CpuList list = Spread(Remaining(considerate));
    TakeFirst(list, std::min(need_, std::ssize(list)));
  }

  const CpuTopology& topology_;
  const CpuOccupancy& occupancy_;
  const CpuRequest& request_;
  CpuSet free_;
  CpuSet avoided_cores_;  // CPUs of cores, and of NUMA nodes, to be considerate of
  CpuSet avoided_nodes_;
  int64_t need_;
  CpuSet result_;
};

}  // namespace

void CpuOccupancy::Add(const CpuSet& cpus, CpuExclusivePolicy policy) {
  holders.Add(cpus);
  if (policy == CpuExclusivePolicy::kPcpuLevel) pcpu_exclusive.Add(cpus);
  if (policy == CpuExclusivePolicy::kNumaNodeLevel) numa_exclusive.Add(cpus);
}

void CpuOccupancy::Remove(const CpuSet& cpus, CpuExclusivePolicy policy) {
  holders.Remove(cpus);
  if (policy == CpuExclusivePolicy::kPcpuLevel) pcpu_exclusive.Remove(cpus);
  if (policy == CpuExclusivePolicy::kNumaNodeLevel) numa_exclusive.Remove(cpus);
}

StatusOr<CpuSet> TakeCpus(const CpuTopology& topology, const CpuSet& available,
                          const CpuOccupancy& occupancy, const CpuRequest& request) {
  return Accumulator(topology, available, occupancy, request).Take();
}

StatusOr<CpuSet> TakePreferredCpus(const CpuTopology& topology, const CpuSet& available,
                                   const CpuSet& preferred, const CpuOccupancy& occupancy,
                                   const CpuRequest& request) {
  const CpuSet first = available & preferred;
  if (first.empty()) return TakeCpus(topology, available, occupancy, request);
  CpuRequest part = request;
  part.count = std::min(request.count, static_cast<int64_t>(first.size()));
  ASSIGN_OR_RETURN(CpuSet taken, TakeCpus(topology, first, occupancy, part));
  part.count = request.count - part.count;
  if (part.count <= 0) return taken;
  ASSIGN_OR_RETURN(const CpuSet more, TakeCpus(topology, available - first, occupancy, part));
  return taken | more;
}

CpuSet UsableFor(CpuBindPolicy policy, const CpuTopology& topology, const CpuSet& available) {
  const std::vector<uint16_t> of_core = CpusOfCores(topology, available);
  std::vector<uint16_t> seen(of_core.size(), 0);
  CpuSet usable;
  for (const int32_t cpu : available) {
    if (topology.Find(cpu) == nullptr) continue;
    const uint32_t core = topology.PlaceOf(cpu).core;
    const bool is_usable = policy == CpuBindPolicy::kSpreadByPcpus
                               ? ++seen[core] == 1
                               : of_core[core] == topology.cpus_per_core();
    if (is_usable) usable.Add(cpu);
  }
  return usable;
}

bool Obeys(CpuBindPolicy policy, const CpuTopology& topology, const CpuSet& cpus) {
  const int64_t cores =
      std::ranges::count_if(CpusOfCores(topology, cpus), [](uint16_t count) { return count > 0; });
  const int64_t per_core = policy == CpuBindPolicy::kFullPcpus ? topology.cpus_per_core() : 1;
  return cores * per_core == static_cast<int64_t>(cpus.size());
}

}  // namespace koord::model
