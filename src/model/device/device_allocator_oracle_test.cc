#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <tuple>

#include "base/random.h"
#include "base/simulation_seeds.h"
#include "model/device/device_testing.h"

// The allocator against all ways to choose devices on small machines.
namespace koord::model::device_allocator_oracle_test {
namespace {

using enum DeviceResource;
using Set = uint32_t;

struct Machine {
  struct Device {
    int32_t numa_node = 0;
    int pcie = 0;  // over all NUMA nodes
    bool healthy = true;
    int64_t core = 0, ratio = 0;  // used
  };
  bool placed = true;
  std::vector<Device> cards, nics;
};

struct Case {
  Machine machine;
  bool whole = true;
  int64_t core = 100, ratio = 100;  // per card
  int count = 1;
  int scope = 0;
  int nics = 0;  // with the cards, on the same switches; each wholly
  std::optional<bool> most_allocated;
};

std::string PcieOf(const Machine::Device& device) { return fmt::format("{}", device.pcie); }

class Oracle {
 public:
  explicit Oracle(const Case& c) : c_(c) {}

  void Compare() const {
    const NodeDevices devices = Build();
    const DeviceRequests requests = Requests();
    const DeviceScoring scoring{.most_allocated = c_.most_allocated.value_or(false),
                                .weights = {{kGpuMemoryRatio, 1}, {kGpuCore, 2}}};
    const GpuNode node;
    const DeviceResult result = AllocateDevices({.requests = requests,
                                                 .devices = devices,
                                                 .node = node,
                                                 .scoring = c_.most_allocated ? &scoring : nullptr,
                                                 .for_real = true});
    if (c_.nics == 0) {
      const std::optional<Set> best = BestCards();
      ASSERT_EQ(result.ok(), best.has_value()) << RefusalOf(result);
      if (best) {
        ASSERT_EQ(SetOf(result, DeviceType::kGpu), *best);
      }
      return;
    }
    CompareJoint(result);
  }

 private:
  NodeDevices Build() const {
    api::Device object;
    for (size_t i = 0; i < c_.machine.cards.size(); ++i) {
      const Machine::Device& card = c_.machine.cards[i];
      api::DeviceInfo info = PlacedCard(static_cast<int32_t>(i), card.numa_node, PcieOf(card));
      info.health = card.healthy;
      if (!c_.machine.placed && i == 0) info.topology.reset();
      object.spec.devices.push_back(std::move(info));
    }
    for (size_t i = 0; i < c_.machine.nics.size(); ++i) {
      const Machine::Device& nic = c_.machine.nics[i];
      object.spec.devices.push_back(Nic(static_cast<int32_t>(i), nic.numa_node, PcieOf(nic)));
    }
    NodeDevices devices = DevicesOf(object);
    for (size_t i = 0; i < c_.machine.cards.size(); ++i) {
      const Machine::Device& card = c_.machine.cards[i];
      if (card.core == 0 && card.ratio == 0) continue;
      devices.Use(DeviceType::kGpu, static_cast<int32_t>(i), Share(card.core, card.ratio), 1);
    }
    for (size_t i = 0; i < c_.machine.nics.size(); ++i) {
      if (c_.machine.nics[i].ratio == 0) continue;
      DeviceAmounts used;
      used.Set(kRdma, c_.machine.nics[i].ratio);
      devices.Use(DeviceType::kRdma, static_cast<int32_t>(i), used, 1);
    }
    return devices;
  }

  DeviceRequests Requests() const {
    DeviceRequests requests;
    DeviceRequest& cards = requests.by_type[static_cast<size_t>(DeviceType::kGpu)].emplace();
    cards.per_device = Share(c_.core, c_.ratio);
    cards.count = c_.count;
    requests.is_shared = !c_.whole;
    requests.required_scope = c_.scope;
    if (c_.nics == 0) return requests;
    DeviceRequest& nics = requests.by_type[static_cast<size_t>(DeviceType::kRdma)].emplace();
    nics.per_device.Set(kRdma, 100);
    nics.count = c_.nics;
    requests.joint = {DeviceType::kGpu, DeviceType::kRdma};
    requests.same_pcie = true;
    return requests;
  }

  static Set SetOf(const DeviceResult& result, DeviceType type) {
    Set set = 0;
    for (const int32_t minor : MinorsOf(result, type)) set |= Set{1} << minor;
    return set;
  }

  bool IsUsable(const Machine::Device& card) const {
    return card.healthy && card.core + c_.core <= 100 && card.ratio + c_.ratio <= 100;
  }
  static bool IsBusy(const Machine::Device& card) { return card.core > 0 || card.ratio > 0; }

  template <class F>
  bool AnyBusy(F in) const {
    for (const Machine::Device& card : c_.machine.cards) {
      if (in(card) && IsBusy(card)) return true;
    }
    return false;
  }

  // How narrow the smallest part of the machine is that has all of these cards, how many of the
  // parts around it are in use, and which one it is.
  struct Place {
    int level = 1;
    int not_empty = 0;
    std::tuple<bool, int, std::string> order;
  };
  Place PlaceOf(Set set) const {
    std::set<int> nodes, pcies;
    for (size_t i = 0; i < c_.machine.cards.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      nodes.insert(c_.machine.cards[i].numa_node);
      pcies.insert(c_.machine.cards[i].pcie);
    }
    Place place;
    place.not_empty = AnyBusy([](const auto&) { return true; }) ? 1 : 0;
    if (nodes.size() > 1) return place;
    const int node = *nodes.begin();
    place.level = 2;
    place.not_empty += AnyBusy([&](const auto& card) { return card.numa_node == node; }) ? 1 : 0;
    place.order = {node < 0, node, ""};
    if (pcies.size() > 1) return place;
    const int pcie = *pcies.begin();
    place.level = 3;
    place.not_empty += AnyBusy([&](const auto& card) { return card.pcie == pcie; }) ? 1 : 0;
    place.order = {node < 0, node, fmt::format("{}", pcie)};
    return place;
  }

  bool AreUsable(Set set) const {
    for (size_t i = 0; i < c_.machine.cards.size(); ++i) {
      if ((set >> i & 1) != 0 && !IsUsable(c_.machine.cards[i])) return false;
    }
    return true;
  }

  int64_t Percent(int64_t used, int64_t of) const {
    used = std::min(used, of);
    return (*c_.most_allocated ? used : of - used) * 100 / of;
  }
  // Of a card among others, as devices are rated.
  int64_t Rating(const Machine::Device& card) const {
    if (!c_.most_allocated || !card.healthy) return 0;
    return (Percent(card.ratio + c_.ratio, 100) + 2 * Percent(card.core + c_.core, 100)) / 3;
  }
  // Of a card for a share: whether it is untouched is all that counts.
  int64_t ShareRating(const Machine::Device& card) const {
    if (!c_.most_allocated) return 0;
    const auto part = [&](int64_t used, int64_t more) -> std::pair<int64_t, int64_t> {
      const int64_t free = 100 - used;
      if (free == 0) return {0, 0};
      return {Percent(used == 0 ? more : free, free), 1};
    };
    const auto [ratio, has_ratio] = part(card.ratio, c_.ratio);
    const auto [core, has_core] = part(card.core, c_.core);
    const int64_t weights = has_ratio + 2 * has_core;
    return weights == 0 ? 0 : (ratio + 2 * core) / weights;
  }

  std::vector<Set> AllSets(int size) const {
    std::vector<Set> sets;
    for (Set set = 1; set < Set{1} << c_.machine.cards.size(); ++set) {
      if (std::popcount(set) == size && AreUsable(set)) sets.push_back(set);
    }
    return sets;
  }
  static std::vector<size_t> ItemsOf(Set set) {
    std::vector<size_t> items;
    for (; set != 0; set &= set - 1) items.push_back(static_cast<size_t>(std::countr_zero(set)));
    return items;
  }

  std::optional<Set> BestCards() const {
    const bool tree = c_.machine.placed && (c_.whole || c_.count == 1);
    if (!tree) return c_.scope > 0 ? std::nullopt : BestByRating();
    std::optional<Set> best;
    for (const Set set : AllSets(c_.count)) {
      if (PlaceOf(set).level < c_.scope) continue;
      if (!best || IsBetter(set, *best)) best = set;
    }
    return best;
  }

  bool IsBetter(Set a, Set b) const {
    const Place x = PlaceOf(a), y = PlaceOf(b);
    if (x.level != y.level) return x.level > y.level;
    if (x.not_empty != y.not_empty) return x.not_empty > y.not_empty;
    if (!c_.whole) {
      const int64_t rating_a = ShareRating(c_.machine.cards[ItemsOf(a)[0]]);
      const int64_t rating_b = ShareRating(c_.machine.cards[ItemsOf(b)[0]]);
      if (rating_a != rating_b) return rating_a > rating_b;
    }
    if (x.order != y.order) return x.order < y.order;
    return ItemsOf(a) < ItemsOf(b);
  }

  std::optional<Set> BestByRating() const {
    const auto ranks = [&](Set set) {
      std::vector<std::pair<int64_t, size_t>> list;
      for (const size_t i : ItemsOf(set)) list.push_back({-Rating(c_.machine.cards[i]), i});
      std::ranges::sort(list);
      return list;
    };
    std::optional<Set> best;
    for (const Set set : AllSets(c_.count)) {
      if (!best || ranks(set) < ranks(*best)) best = set;
    }
    return best;
  }

  // With cards on which the others could be had on just the same switches.
  bool CanBeJoined(Set cards) const {
    std::set<int> pcies;
    for (const size_t i : ItemsOf(cards)) pcies.insert(c_.machine.cards[i].pcie);
    const auto want = std::max(static_cast<size_t>(c_.nics), pcies.size());
    size_t usable = 0;
    std::set<int> with_nics;
    for (const Machine::Device& nic : c_.machine.nics) {
      if (nic.ratio > 0 || !pcies.contains(nic.pcie)) continue;
      ++usable;
      with_nics.insert(nic.pcie);
    }
    return usable >= want && with_nics == pcies;
  }

  void CompareJoint(const DeviceResult& result) const {
    bool possible = false;
    for (const Set set : AllSets(c_.count)) {
      possible = possible || (PlaceOf(set).level >= c_.scope && CanBeJoined(set));
    }
    ASSERT_EQ(result.ok(), possible) << RefusalOf(result);
    if (!possible) return;
    const Set cards = SetOf(result, DeviceType::kGpu), nics = SetOf(result, DeviceType::kRdma);
    ASSERT_EQ(std::popcount(cards), c_.count);
    ASSERT_TRUE(AreUsable(cards) && CanBeJoined(cards));
    ASSERT_GE(PlaceOf(cards).level, c_.scope);
    std::set<int> of_cards, of_nics;
    for (const size_t i : ItemsOf(cards)) of_cards.insert(c_.machine.cards[i].pcie);
    for (const size_t i : ItemsOf(nics)) {
      ASSERT_EQ(c_.machine.nics[i].ratio, 0);
      of_nics.insert(c_.machine.nics[i].pcie);
    }
    ASSERT_EQ(of_cards, of_nics);
    ASSERT_EQ(std::popcount(nics), std::max(c_.nics, static_cast<int>(of_cards.size())));
    // What would be chosen alone is chosen together, where that can be.
    const std::optional<Set> alone = BestCards();
    if (alone && CanBeJoined(*alone)) {
      ASSERT_EQ(cards, *alone);
    }
  }

  const Case& c_;
};

Case RandomCase(Random& random) {
  Case c;
  const int nodes = 1 + static_cast<int>(random.Below(2));
  const int per_node = 1 + static_cast<int>(random.Below(3));
  const double fullness = random.Fraction();
  const auto device = [&] {
    Machine::Device made;
    made.pcie = static_cast<int>(random.Below(static_cast<uint64_t>(nodes * per_node)));
    made.numa_node = made.pcie / per_node;
    made.healthy = random.Chance(0.95);
    if (random.Chance(fullness)) {
      made.core = static_cast<int64_t>(random.Below(5)) * 25;
      made.ratio = random.Chance(0.7) ? made.core : static_cast<int64_t>(random.Below(5)) * 25;
    }
    return made;
  };
  const bool unknown_node = random.Chance(0.1);
  for (uint64_t i = 0; i < 1 + random.Below(7); ++i) c.machine.cards.push_back(device());
  for (uint64_t i = 0; i < random.Below(6); ++i) {
    c.machine.nics.push_back(device());
    c.machine.nics.back().healthy = true;
  }
  if (unknown_node) {
    for (auto& card : c.machine.cards) {
      if (card.numa_node == 1) card.numa_node = -1;
    }
  }
  c.machine.placed = random.Chance(0.85);
  c.whole = random.Chance(0.5);
  if (!c.whole) {
    c.core = static_cast<int64_t>(1 + random.Below(4)) * 20;
    c.ratio = random.Chance(0.6) ? c.core : static_cast<int64_t>(1 + random.Below(4)) * 20;
  }
  c.count = c.whole || random.Chance(0.3) ? 1 + static_cast<int>(random.Below(4)) : 1;
  if (random.Chance(0.3)) c.scope = static_cast<int>(random.Below(5));
  if (random.Chance(0.5)) c.most_allocated = random.Chance(0.5);
  // Together with others only where all places are known: without, a card has no switch.
  if (c.machine.placed && !c.machine.nics.empty() && (c.whole || c.count == 1) &&
      random.Chance(0.4)) {
    c.nics = 1 + static_cast<int>(random.Below(2));
  }
  return c;
}

// A thousand cases for each seed: KOORD_SIMULATION_SEEDS=1-1000 makes a million.
TEST(AllocateDevicesExhaustively, RandomMachinesOfUpToSevenCards) {
  for (const uint64_t seed : SimulationSeeds(5)) {
    Random random(seed);
    for (int i = 0; i < 1000; ++i) {
      const Case c = RandomCase(random);
      ASSERT_NO_FATAL_FAILURE(Oracle(c).Compare()) << "seed " << seed << " case " << i;
    }
  }
}

}  // namespace
}  // namespace koord::model::device_allocator_oracle_test
