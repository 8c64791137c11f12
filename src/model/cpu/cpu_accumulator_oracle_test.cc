#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/random.h"
#include "base/simulation_seeds.h"
#include "model/cpu/cpu_accumulator.h"
#include "model/cpu/cpu_topology_testing.h"

// The accumulator against exhaustive search: of all sets of free CPUs that are large enough the
// best one by the rules, where one NUMA node or one socket can give it; elsewhere as many whole
// cores, or as many cores, as any set has.
namespace koord::model::cpu_accumulator_oracle_test {
namespace {

using Mask = uint32_t;

struct Case {
  int sockets = 1, nodes = 1, cores = 1, threads = 1;
  Threads numbering = Threads::kAdjacent;
  std::vector<int> holders;  // by CPU
  Mask exclusive = 0;        // held by pods with the policy of the request
  Mask reserved = 0;
  int max_holders = 1;
  CpuRequest request;
};

std::string ToString(const Case& c) {
  return fmt::format(
      "T({},{},{},{}) numbering {} held {} exclusive {:b} reserved {:b} max {}, need "
      "{} bind {} exclusive {} strategy {}",
      c.sockets, c.nodes, c.cores, c.threads, static_cast<int>(c.numbering),
      fmt::join(c.holders, ""), c.exclusive, c.reserved, c.max_holders, c.request.count,
      static_cast<int>(c.request.bind), static_cast<int>(c.request.exclusive),
      static_cast<int>(c.request.strategy));
}

CpuSet ToSet(Mask mask) {
  CpuSet set;
  for (int cpu = 0; cpu < 32; ++cpu) {
    if (mask >> cpu & 1) set.Add(cpu);
  }
  return set;
}
Mask ToMask(const CpuSet& set) {
  Mask mask = 0;
  for (const int32_t cpu : set) mask |= Mask{1} << cpu;
  return mask;
}

// Smaller is better.
using Cost = std::array<int64_t, 5>;  // how, which unit (3), which of its CPUs

class Oracle {
 public:
  explicit Oracle(const Case& c)
      : case_(c), topology_(Machine(c.sockets, c.nodes, c.cores, c.threads, c.numbering)) {
    for (const auto& core : topology_.cores()) cores_.push_back(ToMask(core.cpus));
    for (const auto& node : topology_.nodes()) nodes_.push_back(ToMask(node.cpus));
    for (const auto& socket : topology_.sockets()) sockets_.push_back(ToMask(socket.cpus));
    for (size_t cpu = 0; cpu < c.holders.size(); ++cpu) {
      if (c.holders[cpu] < c.max_holders) free_ |= Mask{1} << cpu;
    }
    free_ &= ~c.reserved;
    const bool by_core = c.request.exclusive == CpuExclusivePolicy::kPcpuLevel;
    const bool by_node = c.request.exclusive == CpuExclusivePolicy::kNumaNodeLevel;
    for (const Mask core : cores_) avoided_cores_ |= by_core && (core & c.exclusive) ? core : 0;
    for (const Mask node : nodes_) avoided_nodes_ |= by_node && (node & c.exclusive) ? node : 0;
  }

  void Compare() {
    CpuOccupancy occupancy{.max_holders = static_cast<size_t>(case_.max_holders)};
    for (size_t cpu = 0; cpu < case_.holders.size(); ++cpu) {
      const Mask bit = Mask{1} << cpu;
      for (int i = 0; i < case_.holders[cpu]; ++i) {
        occupancy.Add(ToSet(bit),
                      case_.exclusive & bit ? case_.request.exclusive : CpuExclusivePolicy::kNone);
      }
    }
    const auto taken = TakeCpus(topology_, ToSet(free_), occupancy, case_.request);
    const int64_t need = case_.request.count;
    ASSERT_EQ(taken.ok(), need <= std::popcount(free_)) << ToString(case_);
    if (!taken.ok()) return;
    const Mask got = ToMask(*taken);
    ASSERT_EQ(std::popcount(got), need) << ToString(case_);
    ASSERT_EQ(got & ~free_, 0u) << ToString(case_);
    if (need == 0) return;
    const Mask best = Best();
    if (best != 0) {
      ASSERT_EQ(taken->ToString(), ToSet(best).ToString()) << ToString(case_);
    } else {
      ExpectMostCores(got);
    }
    ExpectRequiredPolicyIsObeyed(occupancy);
  }

 private:
  bool full() const { return case_.request.bind == CpuBindPolicy::kFullPcpus; }
  int64_t ByStrategy(Mask cpus) const {
    const int count = std::popcount(cpus);
    return case_.request.strategy == NumaAllocateStrategy::kMostAllocated ? count : -count;
  }
  Mask WholeCores(Mask from) const {
    Mask whole = 0;
    for (const Mask core : cores_) whole |= (core & from) == core ? core : 0;
    return whole;
  }
  size_t UnitOf(const std::vector<Mask>& units, int cpu) const {
    for (size_t i = 0; i < units.size(); ++i) {
      if (units[i] >> cpu & 1) return i;
    }
    return 0;
  }
  int HoldersIn(Mask cpus) const {
    int holders = 0;
    for (size_t cpu = 0; cpu < case_.holders.size(); ++cpu) {
      if (cpus >> cpu & 1) holders += case_.holders[cpu];
    }
    return case_.max_holders > 1 ? holders : 0;
  }

  // The numbers of CPUs in the order in which they are given out, from these.
  std::vector<int> OrderOfWholeCores(Mask from) const {
    return Ordered(from, [&](int cpu) {
      const size_t core = UnitOf(cores_, cpu);
      return std::array<int, 3>{HoldersIn(cores_[core] & from), static_cast<int>(core), cpu};
    });
  }
  std::vector<int> OrderOfSpread(Mask from, const std::vector<Mask>& units) const {
    const auto by_holders = Ordered(from, [&](int cpu) {
      return std::array<int, 3>{HoldersIn(Mask{1} << cpu), cpu, 0};
    });
    std::vector<int> sweep_of(32), taken(cores_.size());
    for (const int cpu : by_holders) {
      // So few are given out as they stand, even where cores have many threads.
      const Mask unit = units[UnitOf(units, cpu)];
      if (std::popcount(unit & from) <= case_.threads) continue;
      sweep_of[cpu] = taken[UnitOf(cores_, cpu)]++;
    }
    return Ordered(from, [&](int cpu) {
      return std::array<int, 3>{sweep_of[cpu], HoldersIn(Mask{1} << cpu), cpu};
    });
  }
  template <class Key>
  static std::vector<int> Ordered(Mask from, Key key) {
    std::vector<int> order;
    for (int cpu = 0; cpu < 32; ++cpu) {
      if (from >> cpu & 1) order.push_back(cpu);
    }
    std::ranges::sort(order, {}, key);
    return order;
  }
  // Of sets of one size the one that comes first when both are read in this order.
  static int64_t Lateness(Mask cpus, const std::vector<int>& order) {
    int64_t early = 0;
    for (const int cpu : order) early = early << 1 | (cpus >> cpu & 1);
    return -early;
  }
  // The first thread of each core.
  Mask Firsts(Mask from) const {
    Mask firsts = 0;
    for (const Mask core : cores_) {
      const auto order = Ordered(core & from, [&](int cpu) {
        return std::array<int, 3>{HoldersIn(Mask{1} << cpu), cpu, 0};
      });
      if (!order.empty()) firsts |= Mask{1} << order.front();
    }
    return firsts;
  }

  // A way to give out CPUs: all of one unit, from what this way leaves.
  struct Way {
    const std::vector<Mask>* units;
    Mask allowed;  // CPUs that may be in the set
    Mask counted;  // what the strategy counts in the unit,
    Mask nearby;   // and on the unit's socket; 0: it does not look there
    std::vector<int> order;
  };
  std::vector<Way> Ways() const {
    std::vector<Way> ways;
    const Mask polite = free_ & ~avoided_nodes_;
    const Mask more_polite = polite & ~avoided_cores_;
    const auto whole = [&](const std::vector<Mask>& units, Mask from, Mask nearby) {
      const Mask cpus = WholeCores(from);
      ways.push_back({&units, cpus, cpus, nearby, OrderOfWholeCores(cpus)});
    };
    const auto spread = [&](const std::vector<Mask>& units, Mask from, bool one_per_core,
                            bool of_node) {
      const Mask allowed = one_per_core ? Firsts(from) : from;
      ways.push_back({&units, allowed, of_node ? from : allowed, of_node ? from : 0,
                      OrderOfSpread(allowed, units)});
    };
    if (full() || case_.threads == 1) {
      whole(nodes_, polite, polite);
      whole(nodes_, free_, free_);
      whole(sockets_, free_, 0);
    }
    if (!full()) {
      spread(nodes_, more_polite, true, true);
      spread(nodes_, free_, false, true);
      spread(sockets_, free_ & ~avoided_cores_, true, false);
      spread(sockets_, free_, false, false);
    }
    return ways;
  }

  // The best of all sets that one unit can give; 0: none can.
  Mask Best() const {
    const std::vector<Way> ways = Ways();
    Mask best = 0;
    Cost least{};
    for (Mask set = free_; set != 0; set = (set - 1) & free_) {
      if (std::popcount(set) != case_.request.count) continue;
      const auto cost = CostOf(set, ways);
      if (cost && (best == 0 || *cost < least)) {
        best = set;
        least = *cost;
      }
    }
    return best;
  }
  std::optional<Cost> CostOf(Mask set, const std::vector<Way>& ways) const {
    const int first = std::countr_zero(set);
    for (size_t i = 0; i < ways.size(); ++i) {
      const Way& way = ways[i];
      const size_t unit = UnitOf(*way.units, first);
      const Mask cpus = (*way.units)[unit];
      if ((set & ~(cpus & way.allowed)) != 0) continue;
      const Mask socket = sockets_[UnitOf(sockets_, first)];
      return Cost{static_cast<int64_t>(i), ByStrategy(cpus & way.counted),
                  ByStrategy(socket & way.nearby), static_cast<int64_t>(unit),
                  Lateness(set, way.order)};
    }
    return {};
  }

  int CoresTouched(Mask cpus) const {
    return static_cast<int>(
        std::ranges::count_if(cores_, [&](Mask core) { return (core & cpus) != 0; }));
  }
  void ExpectMostCores(Mask got) const {
    const int need = static_cast<int>(case_.request.count);
    const auto whole_in = [&](Mask cpus) {
      return std::popcount(WholeCores(cpus)) / case_.threads;
    };
    if (full()) {
      ASSERT_EQ(whole_in(got), std::min(need / case_.threads, whole_in(free_))) << ToString(case_);
    } else if (case_.threads > 1 && case_.request.exclusive == CpuExclusivePolicy::kNone) {
      ASSERT_EQ(CoresTouched(got), std::min(need, CoresTouched(free_))) << ToString(case_);
    }
  }

  // Where the policy is required, some set obeys it exactly if what is usable is enough, and then
  // what is given out does.
  void ExpectRequiredPolicyIsObeyed(const CpuOccupancy& occupancy) const {
    const CpuBindPolicy policy = case_.request.bind;
    if (full() && case_.request.count % case_.threads != 0) return;
    bool possible = false;
    for (Mask set = free_; set != 0 && !possible; set = (set - 1) & free_) {
      if (std::popcount(set) != case_.request.count) continue;
      possible = full() ? WholeCores(set) == set : CoresTouched(set) == std::popcount(set);
    }
    const auto taken =
        TakeCpus(topology_, UsableFor(policy, topology_, ToSet(free_)), occupancy, case_.request);
    ASSERT_EQ(taken.ok(), possible) << ToString(case_);
    ASSERT_TRUE(!possible || Obeys(policy, topology_, *taken)) << ToString(case_);
  }

  const Case& case_;
  const CpuTopology topology_;
  std::vector<Mask> cores_, nodes_, sockets_;
  Mask free_ = 0;
  Mask avoided_cores_ = 0;
  Mask avoided_nodes_ = 0;
};

constexpr std::array kBinds{CpuBindPolicy::kFullPcpus, CpuBindPolicy::kSpreadByPcpus};
constexpr std::array kExclusives{CpuExclusivePolicy::kNone, CpuExclusivePolicy::kPcpuLevel,
                                 CpuExclusivePolicy::kNumaNodeLevel};
constexpr std::array kStrategies{NumaAllocateStrategy::kMostAllocated,
                                 NumaAllocateStrategy::kLeastAllocated};

// Every set of held CPUs, every number, every policy.
TEST(TakeCpusExhaustively, AllOccupanciesOfEightCpus) {
  for (const auto& [sockets, nodes, cores] :
       {std::tuple(1, 1, 4), {1, 2, 2}, {2, 1, 2}, {2, 2, 1}}) {
    for (Mask held = 0; held < 256; ++held) {
      Case c{.sockets = sockets, .nodes = nodes, .cores = cores, .threads = 2, .holders = {}};
      for (int cpu = 0; cpu < 8; ++cpu) c.holders.push_back(held >> cpu & 1);
      for (const CpuBindPolicy bind : kBinds) {
        for (const NumaAllocateStrategy strategy : kStrategies) {
          for (int need = 0; need <= 9 - std::popcount(held); ++need) {
            c.request = {.count = need, .bind = bind, .strategy = strategy};
            ASSERT_NO_FATAL_FAILURE(Oracle(c).Compare());
          }
        }
      }
    }
  }
}

Case RandomCase(Random& random) {
  constexpr std::array<std::array<int, 4>, 12> kShapes{{{1, 1, 6, 2},
                                                        {2, 1, 3, 2},
                                                        {1, 2, 3, 2},
                                                        {2, 2, 3, 1},
                                                        {3, 1, 2, 2},
                                                        {2, 3, 2, 1},
                                                        {1, 3, 2, 2},
                                                        {2, 2, 1, 3},
                                                        {4, 1, 3, 1},
                                                        {2, 1, 2, 3},
                                                        {1, 1, 12, 1},
                                                        {3, 2, 1, 2}}};
  const auto& shape = kShapes[random.Below(kShapes.size())];
  Case c{.sockets = shape[0],
         .nodes = shape[1],
         .cores = shape[2],
         .threads = shape[3],
         .holders = {}};
  c.numbering = random.Chance(0.5) ? Threads::kAdjacent : Threads::kFarApart;
  c.max_holders = random.Chance(0.3) ? 2 : 1;
  const double fullness = random.Fraction();
  int free = 0;
  for (int cpu = 0; cpu < 12; ++cpu) {
    int holders = 0;
    for (int i = 0; i < c.max_holders; ++i) holders += random.Chance(fullness) ? 1 : 0;
    c.holders.push_back(holders);
    if (holders > 0 && random.Chance(0.3)) c.exclusive |= Mask{1} << cpu;
    if (random.Chance(0.05)) c.reserved |= Mask{1} << cpu;
    free += holders < c.max_holders ? 1 : 0;
  }
  c.request = {.count = static_cast<int64_t>(random.Below(free + 2)),
               .bind = kBinds[random.Below(kBinds.size())],
               .exclusive = kExclusives[random.Below(kExclusives.size())],
               .strategy = kStrategies[random.Below(kStrategies.size())]};
  return c;
}

// A thousand cases for each seed: KOORD_SIMULATION_SEEDS=1-1000 makes a million.
TEST(TakeCpusExhaustively, RandomMachinesOfTwelveCpus) {
  for (const uint64_t seed : SimulationSeeds(5)) {
    Random random(seed);
    for (int i = 0; i < 1000; ++i) {
      const Case c = RandomCase(random);
      ASSERT_NO_FATAL_FAILURE(Oracle(c).Compare()) << "seed " << seed << " case " << i;
    }
  }
}

}  // namespace
}  // namespace koord::model::cpu_accumulator_oracle_test
