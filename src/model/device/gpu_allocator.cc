#include "model/device/gpu_allocator.h"

#include <algorithm>
#include <map>
#include <set>

namespace koord::model {
namespace {

using Scope = DeviceInventory::Scope;

const Candidate* FindCandidate(const Candidates& candidates, int32_t minor) {
  const auto found = std::ranges::lower_bound(candidates, minor, {},
                                              [](const Candidate& each) { return each.minor(); });
  return found == candidates.end() || found->minor() != minor ? nullptr : &*found;
}

// Somebody has something of the card; what is only kept from this attempt counts as well.
bool IsBusy(const DeviceCard& card, const Candidate* candidate) {
  if (candidate != nullptr && !card.total().empty()) return candidate->IsBusy();
  return !card.used.IsZero();
}

// ---- Partitions

struct PartitionTable {
  const api::GpuPartitions* partitions = nullptr;
  bool honored = false;
};

PartitionTable TableFor(const DeviceTask& task) {
  PartitionTable table;
  const DeviceInventory* const inventory = task.devices.inventory().get();
  if (inventory != nullptr && inventory->partitions) {
    table = {&*inventory->partitions, inventory->honors_partitions};
  } else {
    table = {KnownPartitions(task.node.vendor, task.node.model), task.node.honors_partitions};
  }
  table.honored = table.honored || task.requests.partition.has_value();
  return table;
}

bool AreFree(const std::vector<int32_t>& minors, const std::set<int32_t>& busy) {
  return std::ranges::none_of(minors, [&](int32_t minor) { return busy.contains(minor); });
}

std::set<int32_t> BusyMinors(const DeviceTask& task, const Candidates& candidates) {
  std::set<int32_t> busy;
  for (const DeviceCard& card : task.devices.of(DeviceType::kGpu)) {
    if (IsBusy(card, FindCandidate(candidates, card.minor))) busy.insert(card.minor);
  }
  return busy;
}

// Partitions of one size by what they are worth, in the order in which they are looked at.
std::map<int64_t, std::vector<const api::GpuPartition*>> GroupsOf(
    const std::vector<api::GpuPartition>& list) {
  std::map<int64_t, std::vector<const api::GpuPartition*>> groups;
  for (const api::GpuPartition& each : list) groups[each.allocation_score].push_back(&each);
  return groups;
}

// How much stays possible once a partition is taken: large sets of cards above all.
int64_t WorthOfRest(const api::GpuPartitions& table, int64_t count, const std::set<int32_t>& busy) {
  struct Size {
    int cards;
    int64_t weight;
  };
  int64_t worth = 0;
  for (const Size size : {Size{8, 10000}, Size{4, 100}, Size{2, 1}}) {
    if (size.cards < count) continue;
    const auto list = table.find(size.cards);
    if (list == table.end() || list->second.empty()) continue;
    const auto groups = GroupsOf(list->second);
    for (const api::GpuPartition* each : groups.begin()->second) {
      if (AreFree(each->minors, busy)) worth += size.weight * each->allocation_score;
    }
  }
  return worth;
}

const api::GpuPartition* BestOf(const std::vector<const api::GpuPartition*>& feasible,
                                const api::GpuPartitions& table, int64_t count,
                                const std::set<int32_t>& busy) {
  if (feasible.size() == 1) return feasible.front();
  const api::GpuPartition* best = nullptr;
  int64_t most = 0;
  for (const api::GpuPartition* each : feasible) {
    std::set<int32_t> then = busy;
    then.insert(each->minors.begin(), each->minors.end());
    const int64_t worth = WorthOfRest(table, count, then);
    if (best == nullptr || worth > most) {
      best = each;
      most = worth;
    }
  }
  return best;
}

CardChoice CardsOf(const api::GpuPartition& partition, const Candidates& candidates) {
  CardChoice choice{.decided = true};
  std::vector<int32_t> minors = partition.minors;
  std::ranges::sort(minors);
  for (const int32_t minor : minors) choice.cards.push_back(FindCandidate(candidates, minor));
  return choice;
}

// ---- Topology

// The best cards of a part of the machine.
struct Found {
  int depth = 0;
  int not_empty = 0;
  int64_t score = 0;
  absl::InlinedVector<const Candidate*, 8> cards;

  explicit operator bool() const { return depth != 0; }
};

class TreeSearch {
 public:
  TreeSearch(const DeviceTask& task, const Candidates& candidates, const DeviceRequest& request)
      : task_(task), request_(request) {
    const auto& devices = task.devices.inventory()->of(DeviceType::kGpu);
    cards_.resize(devices.size());
    for (size_t i = 0; i < devices.size(); ++i) {
      const DeviceCard& card = *task.devices.Find(DeviceType::kGpu, devices[i].minor);
      const Candidate* const candidate = FindCandidate(candidates, card.minor);
      cards_[i].is_busy = IsBusy(card, candidate);
      const bool usable =
          candidate != nullptr && !card.total().IsZero() && candidate->CanGive(request.per_device);
      cards_[i].usable = usable ? candidate : nullptr;
    }
  }

  Found Run() const { return Search(*task_.devices.inventory()->gpu_tree, 0, 0); }

 private:
  struct Card {
    const Candidate* usable = nullptr;
    bool is_busy = false;
  };

  bool IsBetter(const Found& a, const Found& b) const {
    if (a.depth != b.depth) return a.depth > b.depth;
    if (a.not_empty != b.not_empty) return a.not_empty > b.not_empty;
    return task_.requests.is_shared && a.score > b.score;
  }

  Found Search(const Scope& scope, int depth, int not_empty) const {
    if (std::cmp_less(scope.cards.size(), request_.count)) return {};
    ++depth;
    const bool busy =
        std::ranges::any_of(scope.cards, [&](uint32_t i) { return cards_[i].is_busy; });
    if (busy) ++not_empty;
    Found best;
    for (const Scope& child : scope.children) {
      Found found = Search(child, depth, not_empty);
      if (found && (!best || IsBetter(found, best))) best = std::move(found);
    }
    if (best) return best;
    if (task_.requests.required_scope > scope.level) return {};
    best = task_.requests.is_shared ? BestShare(scope) : FirstCards(scope);
    if (best.cards.empty()) return {};
    best.depth = depth;
    best.not_empty = not_empty;
    return best;
  }

  Found FirstCards(const Scope& scope) const {
    Found found;
    for (const uint32_t i : scope.cards) {
      if (cards_[i].usable == nullptr) continue;
      found.cards.push_back(cards_[i].usable);
      if (std::cmp_equal(found.cards.size(), request_.count)) return found;
    }
    return {};
  }

  Found BestShare(const Scope& scope) const {
    Found found;
    for (const uint32_t i : scope.cards) {
      const Candidate* const card = cards_[i].usable;
      if (card == nullptr) continue;
      // What is there and what is free are the other way round here, as users of either strategy
      // know it: the most allocated card is one that is in use at all, the least allocated one is
      // untouched.
      const int64_t score =
          task_.scoring == nullptr
              ? 0
              : DeviceScore(*task_.scoring, request_.per_device, *card->free, card->card->total());
      if (!found.cards.empty() && score <= found.score) continue;
      found.cards = {card};
      found.score = score;
    }
    return found;
  }

  const DeviceTask& task_;
  const DeviceRequest& request_;
  absl::InlinedVector<Card, 16> cards_;  // by place in the inventory
};

CardChoice ByTopology(const DeviceTask& task, const Candidates& candidates,
                      const DeviceRequest& request) {
  const bool required = task.requests.required_scope > 0;
  const auto unless_required = [&](DeviceRefusal refusal) {
    return required ? CardChoice{.decided = true, .refusal = refusal} : CardChoice{};
  };
  const DeviceInventory* const inventory = task.devices.inventory().get();
  if (inventory == nullptr || !inventory->gpu_tree) return unless_required(DeviceRefusal::kNoTree);
  if (task.requests.is_shared && request.count > 1) {
    return unless_required(DeviceRefusal::kMultiShared);
  }
  CardChoice choice{.decided = true};
  Found found = TreeSearch(task, candidates, request).Run();
  if (!found) {
    choice.refusal = required ? DeviceRefusal::kNoScope : DeviceRefusal::kTooFewCards;
  }
  choice.cards = std::move(found.cards);
  return choice;
}

}  // namespace

PartitionSearch FindPartitions(const DeviceTask& task, const Candidates& candidates,
                               int64_t count) {
  const PartitionTable table = TableFor(task);
  PartitionSearch search{.honored = table.honored};
  const auto fail = [&](DeviceRefusal refusal) {
    search.refusal = refusal;
    return search;
  };
  if (table.partitions == nullptr) return fail(DeviceRefusal::kNoPartitionTable);
  const auto list = table.partitions->find(static_cast<int>(count));
  if (list == table.partitions->end()) return fail(DeviceRefusal::kPartitionSize);
  const std::set<int32_t> busy = BusyMinors(task, candidates);
  const auto& spec = task.requests.partition;
  const auto is_feasible = [&](const api::GpuPartition& partition) {
    if (!AreFree(partition.minors, busy)) return false;
    if (spec && spec->ring_bus_bandwidth &&
        (!partition.ring_bus_bandwidth ||
         *partition.ring_bus_bandwidth < *spec->ring_bus_bandwidth)) {
      return false;
    }
    return std::ranges::all_of(partition.minors, [&](int32_t minor) {
      const Candidate* const card = FindCandidate(candidates, minor);
      return card != nullptr && !card->card->total().IsZero() &&
             card->CanGive(task.requests.of(DeviceType::kGpu)->per_device);
    });
  };
  for (const auto& [score, group] : GroupsOf(list->second)) {
    for (const api::GpuPartition* each : group) {
      if (is_feasible(*each)) search.feasible.push_back(each);
    }
    if (!search.feasible.empty()) return search;
    if (spec && spec->allocate_policy == "Restricted") break;
  }
  return fail(DeviceRefusal::kNoPartition);
}

CardChoice ChooseCards(const DeviceTask& task, const Candidates& candidates,
                       const DeviceRequest& request) {
  if (!task.requests.is_shared) {
    const PartitionSearch search = FindPartitions(task, candidates, request.count);
    if (search.refusal == DeviceRefusal::kNone) {
      return CardsOf(*BestOf(search.feasible, *TableFor(task).partitions, request.count,
                             BusyMinors(task, candidates)),
                     candidates);
    }
    if (search.honored) return {.decided = true, .refusal = search.refusal, .cards = {}};
  }
  return ByTopology(task, candidates, request);
}

}  // namespace koord::model
