#include "model/device/device_allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/device/gpu_allocator.h"

namespace koord::model {
namespace {

using enum DeviceResource;

// Sets of PCIe switches that are tried for types that must share them: of the first so many.
constexpr size_t kMostTriedPcies = 12;

// A set of PCIe switches by their places in the inventory. One bit each: more than 64 are on no
// machine, and those behind share the last one.
using PcieSet = uint64_t;
PcieSet BitOf(int32_t pcie) {
  return pcie == kNoPcie ? 0 : PcieSet{1} << std::min<int32_t>(pcie, 63);
}

struct Rated {
  const Candidate* candidate;
  int64_t score;
};
using RatedList = absl::InlinedVector<Rated, 16>;

bool IsAhead(const Rated& a, const Rated& b) {
  return a.score != b.score ? a.score > b.score : a.candidate->minor() < b.candidate->minor();
}

// Those on the switches first, one of each in turn.
void DealByPcie(RatedList& list, PcieSet preferred) {
  RatedList rest;
  absl::InlinedVector<std::pair<int32_t, RatedList>, 8> groups;
  for (const Rated& each : list) {
    const int32_t pcie = each.candidate->pcie();
    if ((BitOf(pcie) & preferred) == 0) {
      rest.push_back(each);
      continue;
    }
    auto group = std::ranges::find(groups, pcie, [](const auto& g) { return g.first; });
    if (group == groups.end()) group = groups.insert(groups.end(), {pcie, {}});
    group->second.push_back(each);
  }
  list.clear();
  for (size_t round = 0;; ++round) {
    const size_t begin = list.size();
    for (const auto& group : groups) {
      if (round < group.second.size()) list.push_back(group.second[round]);
    }
    if (list.size() == begin) break;
    std::sort(list.begin() + static_cast<ptrdiff_t>(begin), list.end(), IsAhead);
  }
  list.insert(list.end(), rest.begin(), rest.end());
}

class Allocation {
 public:
  explicit Allocation(const DeviceTask& task) : task_(task), narrowed_(task) {}

  DeviceResult Run();

 private:
  struct Want {
    const DeviceRequest* request = nullptr;
    int64_t count = 0;
  };

  bool Prepare();
  bool Fail(DeviceRefusal refusal, DeviceType type) {
    result_.refusal = refusal;
    result_.type = type;
    return false;
  }
  const Want& WantOf(DeviceType type) const { return wants_[static_cast<size_t>(type)]; }
  const DeviceLimits::Of* LimitsOf(DeviceType type) const {
    return task_.limits == nullptr ? nullptr : &task_.limits->by_type[static_cast<size_t>(type)];
  }
  bool Take(DeviceType type, const Candidate& candidate);
  // Between `desired` and `most` devices, preferably on these switches. `only`: nowhere else, and
  // devices that cannot be given do not take part in the turns of their switch.
  bool TakeAny(DeviceType type, int64_t desired, int64_t most, PcieSet preferred, bool only);
  bool TakeCards();
  bool TakeType(DeviceType type);
  bool TakeJointly();
  bool TakeSecondary(PcieSet pcies, bool only);
  bool SharesPcies(PcieSet pcies) const;
  PcieSet PciesOf(DeviceType type) const;
  // All ways for types that must share their switches.
  bool TakeJointlyElsewhere();
  bool TakeFrom(PcieSet pcies);
  bool TakePartitionWithOthers();
  bool IsUsable(DeviceType type, const Candidate& candidate) const;
  bool IsInScope(PcieSet pcies) const;
  const std::string* TemplateName(DeviceRefusal* refusal) const;

  const DeviceTask& task_;
  const NarrowedDevices narrowed_;
  std::array<Want, kDeviceTypes> wants_;
  const std::string* template_ = nullptr;
  DeviceResult result_;
};

bool Allocation::Prepare() {
  const DeviceRequests& requests = task_.requests;
  const DeviceInventory* const inventory = task_.devices.inventory().get();
  const bool skips_secondary = !task_.for_real && !requests.joint.empty() && !requests.is_shared &&
                               inventory != nullptr &&
                               inventory->secondary_well_planned.value_or(false);
  for (const DeviceType type : kAllDeviceTypes) {
    if (!requests.of(type)) continue;
    const DeviceRequest& request = *requests.of(type);
    const auto joint = std::ranges::find(requests.joint, type);
    if (skips_secondary && joint != requests.joint.end() && joint != requests.joint.begin()) {
      continue;
    }
    const std::vector<DeviceCard>& cards = task_.devices.of(type);
    if (cards.empty()) return Fail(DeviceRefusal::kNoSuchDevices, type);
    Want& want = wants_[static_cast<size_t>(type)];
    want = {&request, request.count};
    if (request.counted == DeviceRequest::Count::kAll) {
      want.count = std::ranges::count_if(cards, [&](const DeviceCard& card) {
        return !request.selector ||
               (card.device != nullptr && request.selector->Matches(card.device->labels));
      });
      if (want.count == 0) return Fail(DeviceRefusal::kNoSuchDevices, type);
    }
    const auto has_functions = [](const DeviceCard& card) {
      return card.device != nullptr && !card.device->function_groups.empty();
    };
    if (request.function_selector && std::ranges::none_of(cards, has_functions)) {
      return Fail(DeviceRefusal::kTooFewFunctions, type);
    }
  }
  return true;
}

bool Allocation::Take(DeviceType type, const Candidate& candidate) {
  const DeviceRequest& request = *WantOf(type).request;
  DeviceGrant grant{.type = type, .minor = candidate.minor(), .amounts = request.per_device};
  if (request.function_selector) {
    grant.function = FreeFunction(candidate, request, LimitsOf(type));
    if (grant.function == nullptr) return false;
  }
  if (type == DeviceType::kGpu) grant.gpu_template = template_;
  result_.grants.push_back(grant);
  return true;
}

bool Allocation::TakeAny(DeviceType type, int64_t desired, int64_t most, PcieSet preferred,
                         bool only) {
  const DeviceRequest& request = *WantOf(type).request;
  desired = std::max<int64_t>(desired, 1);
  most = std::max(most, desired);
  RatedList list;
  for (const Candidate& each : narrowed_.of(type)) {
    if (only && ((BitOf(each.pcie()) & preferred) == 0 || !IsUsable(type, each))) continue;
    const int64_t score = task_.scoring == nullptr ? 0
                                                   : DeviceScore(*task_.scoring, request.per_device,
                                                                 each.card->total(), *each.free);
    list.push_back({&each, score});
  }
  std::sort(list.begin(), list.end(), IsAhead);
  const DeviceLimits::Of* const limits = LimitsOf(type);
  if (limits != nullptr && !limits->preferred.empty()) {
    std::stable_partition(list.begin(), list.end(), [&](const Rated& each) {
      return std::ranges::binary_search(limits->preferred, each.candidate->minor());
    });
  } else if (preferred != 0) {
    DealByPcie(list, preferred);
  }
  int64_t taken = 0;
  for (const Rated& each : list) {
    if (taken == most) break;
    if (each.candidate->CanGive(request.per_device) && Take(type, *each.candidate)) ++taken;
  }
  return taken >= desired || Fail(DeviceRefusal::kTooFewDevices, type);
}

const std::string* Allocation::TemplateName(DeviceRefusal* refusal) const {
  *refusal = DeviceRefusal::kNone;
  if (!task_.requests.templates) return nullptr;
  const auto names = task_.requests.templates->find(task_.node.kind());
  if (names == task_.requests.templates->end()) {
    *refusal = DeviceRefusal::kNoTemplate;
    return nullptr;
  }
  return names->second.size() == 1 ? &names->second.front() : nullptr;
}

bool Allocation::TakeCards() {
  DeviceRefusal refusal;
  template_ = TemplateName(&refusal);
  if (refusal != DeviceRefusal::kNone) return Fail(refusal, DeviceType::kGpu);
  const Want& want = WantOf(DeviceType::kGpu);
  const CardChoice choice = ChooseCards(task_, narrowed_.of(DeviceType::kGpu), *want.request);
  if (!choice.decided) return TakeAny(DeviceType::kGpu, want.count, want.count, 0, false);
  if (choice.refusal != DeviceRefusal::kNone) return Fail(choice.refusal, DeviceType::kGpu);
  for (const Candidate* card : choice.cards) {
    if (!Take(DeviceType::kGpu, *card)) {
      return Fail(DeviceRefusal::kTooFewDevices, DeviceType::kGpu);
    }
  }
  return true;
}

bool Allocation::TakeType(DeviceType type) {
  if (type == DeviceType::kGpu) return TakeCards();
  const int64_t count = WantOf(type).count;
  return TakeAny(type, count, count, 0, false);
}

PcieSet Allocation::PciesOf(DeviceType type) const {
  PcieSet pcies = 0;
  for (const DeviceGrant& grant : result_.grants) {
    if (grant.type != type) continue;
    const DeviceInventory::Device* const device = task_.devices.Find(type, grant.minor)->device;
    if (device != nullptr) pcies |= BitOf(device->pcie);
  }
  return pcies;
}

bool Allocation::SharesPcies(PcieSet pcies) const {
  const std::vector<DeviceType>& joint = task_.requests.joint;
  return std::all_of(joint.begin() + 1, joint.end(), [&](DeviceType type) {
    return WantOf(type).request == nullptr || PciesOf(type) == pcies;
  });
}

bool Allocation::TakeSecondary(PcieSet pcies, bool only) {
  const std::vector<DeviceType>& joint = task_.requests.joint;
  const int64_t switches = std::popcount(pcies);
  for (auto type = joint.begin() + 1; type != joint.end(); ++type) {
    if (WantOf(*type).request == nullptr) continue;
    int64_t desired = WantOf(*type).count;
    if (*type == DeviceType::kGpu && !only) {
      if (!TakeCards()) return false;
      continue;
    }
    if (task_.requests.same_pcie) desired = std::max(desired, switches);
    const int64_t most = *type == DeviceType::kGpu ? desired : std::max(desired, switches);
    if (!TakeAny(*type, desired, most, pcies, only)) return false;
  }
  return true;
}

bool Allocation::TakeJointly() {
  const DeviceType primary = task_.requests.joint.front();
  if (!TakeType(primary)) return false;
  if (result_.grants.empty()) return Fail(DeviceRefusal::kNoPrimary, primary);
  const PcieSet pcies = PciesOf(primary);
  if (!TakeSecondary(pcies, false)) return false;
  return !task_.requests.same_pcie || SharesPcies(pcies) ||
         Fail(DeviceRefusal::kJointViolated, primary);
}

bool Allocation::IsUsable(DeviceType type, const Candidate& candidate) const {
  const DeviceRequest& request = *WantOf(type).request;
  if (candidate.card->total().IsZero() || !candidate.CanGive(request.per_device)) return false;
  return !request.function_selector || FreeFunction(candidate, request, LimitsOf(type)) != nullptr;
}

bool Allocation::IsInScope(PcieSet pcies) const {
  const int scope = task_.requests.required_scope;
  if (scope <= 1) return true;
  if (scope >= 4) return false;
  if (scope == 3) return std::popcount(pcies) == 1;
  std::optional<int32_t> node;
  for (const Candidate& each : narrowed_.of(DeviceType::kGpu)) {
    if ((BitOf(each.pcie()) & pcies) == 0) continue;
    if (node && *node != each.card->device->numa_node) return false;
    node = each.card->device->numa_node;
  }
  return true;
}

// Takes cards of each of these switches, and the others there.
bool Allocation::TakeFrom(PcieSet pcies) {
  result_.grants.clear();
  const DeviceType primary = task_.requests.joint.front();
  const int64_t count = WantOf(primary).count;
  absl::InlinedVector<const Candidate*, 16> usable;
  for (const Candidate& each : narrowed_.of(primary)) {
    if ((BitOf(each.pcie()) & pcies) != 0 && IsUsable(primary, each)) usable.push_back(&each);
  }
  if (std::cmp_less(usable.size(), count) || std::popcount(pcies) > count) return false;
  PcieSet covered = 0;
  std::stable_partition(usable.begin(), usable.end(), [&](const Candidate* each) {
    const PcieSet bit = BitOf(each->pcie());
    const bool first = (covered & bit) == 0;
    covered |= bit;
    return first;
  });
  if (covered != pcies) return false;
  usable.resize(static_cast<size_t>(count));
  std::ranges::sort(usable, {}, [](const Candidate* each) { return each->minor(); });
  for (const Candidate* each : usable) Take(primary, *each);
  return TakeSecondary(pcies, true) && SharesPcies(pcies);
}

bool Allocation::TakePartitionWithOthers() {
  const Candidates& cards = narrowed_.of(DeviceType::kGpu);
  const PartitionSearch search = FindPartitions(task_, cards, WantOf(DeviceType::kGpu).count);
  for (const api::GpuPartition* partition : search.feasible) {
    result_.grants.clear();
    for (const Candidate& card : cards) {
      if (std::ranges::find(partition->minors, card.minor()) != partition->minors.end()) {
        Take(DeviceType::kGpu, card);
      }
    }
    const PcieSet pcies = PciesOf(DeviceType::kGpu);
    if (TakeSecondary(pcies, true) && SharesPcies(pcies)) return true;
  }
  return false;
}

bool Allocation::TakeJointlyElsewhere() {
  const std::vector<DeviceType>& joint = task_.requests.joint;
  const DeviceType primary = joint.front();
  const bool cards_lead = primary == DeviceType::kGpu;
  if (cards_lead && !task_.requests.is_shared &&
      FindPartitions(task_, narrowed_.of(primary), WantOf(primary).count).honored) {
    return TakePartitionWithOthers();
  }
  absl::InlinedVector<PcieSet, 16> pcies;
  for (const Candidate& each : narrowed_.of(primary)) {
    const PcieSet bit = BitOf(each.pcie());
    if (bit == 0 || std::ranges::find(pcies, bit) != pcies.end()) continue;
    const bool all_there = std::ranges::all_of(joint, [&](DeviceType type) {
      return WantOf(type).request == nullptr ||
             std::ranges::any_of(narrowed_.of(type), [&](const Candidate& other) {
               return BitOf(other.pcie()) == bit && IsUsable(type, other);
             });
    });
    if (all_there) pcies.push_back(bit);
  }
  std::ranges::sort(pcies);
  if (pcies.size() > kMostTriedPcies) pcies.resize(kMostTriedPcies);
  const auto sets = uint32_t{1} << pcies.size();
  for (size_t size = 1; size <= pcies.size(); ++size) {
    for (uint32_t set = 1; set < sets; ++set) {
      if (std::cmp_not_equal(std::popcount(set), size)) continue;
      PcieSet tried = 0;
      for (size_t i = 0; i < pcies.size(); ++i) {
        if ((set >> i & 1) != 0) tried |= pcies[i];
      }
      if (cards_lead && !IsInScope(tried)) continue;
      if (TakeFrom(tried)) return true;
    }
  }
  return false;
}

DeviceResult Allocation::Run() {
  if (!Prepare()) return result_;
  const std::vector<DeviceType>& joint = task_.requests.joint;
  const auto wanted =
      std::ranges::count_if(wants_, [](const Want& want) { return want.request != nullptr; });
  const bool jointly = wanted > 1 && !joint.empty();
  if (jointly && !TakeJointly()) {
    const DeviceResult first = result_;
    // Where not even the leading ones were found there is nothing to look for.
    const bool may_be_elsewhere =
        task_.requests.same_pcie && joint.size() > 1 && !first.grants.empty();
    if (!may_be_elsewhere || !TakeJointlyElsewhere()) {
      result_ = first;
      result_.grants.clear();
      return result_;
    }
    result_.refusal = DeviceRefusal::kNone;
  }
  for (const DeviceType type : kAllDeviceTypes) {
    if (WantOf(type).request == nullptr) continue;
    if (jointly && std::ranges::find(joint, type) != joint.end()) continue;
    if (!TakeType(type)) {
      result_.grants.clear();
      return result_;
    }
  }
  std::ranges::stable_sort(result_.grants, {}, [](const DeviceGrant& grant) {
    return std::pair(grant.type, grant.minor);
  });
  return result_;
}

}  // namespace

bool IsUnresolvable(DeviceRefusal refusal) {
  switch (refusal) {
    case DeviceRefusal::kNoSuchDevices:
    case DeviceRefusal::kTooFewFunctions:
    case DeviceRefusal::kNoTemplate:
    case DeviceRefusal::kNoPartitionTable:
    case DeviceRefusal::kPartitionSize:
    case DeviceRefusal::kNoTree:
    case DeviceRefusal::kMultiShared:
    case DeviceRefusal::kTooFewInNumaNodes:
      return true;
    default:
      return false;
  }
}

std::string TextOf(DeviceRefusal refusal, DeviceType type) {
  switch (refusal) {
    case DeviceRefusal::kNone:
      return "";
    case DeviceRefusal::kNoSuchDevices:
    case DeviceRefusal::kTooFewDevices:
      return fmt::format("Insufficient {} devices", ToString(type));
    case DeviceRefusal::kTooFewFunctions:
      return fmt::format("Insufficient {} VirtualFunctions", ToString(type));
    case DeviceRefusal::kNoPrimary:
      return "node(s) Insufficient primary device";
    case DeviceRefusal::kJointViolated:
      return "node(s) Device Joint-Allocate rules violation";
    case DeviceRefusal::kNoTemplate:
      return "no matched GPU shared resource template";
    case DeviceRefusal::kNoPartitionTable:
      return "node(s) missing GPU Partition Table";
    case DeviceRefusal::kPartitionSize:
      return "node(s) Unsupported number of GPU requests";
    case DeviceRefusal::kNoPartition:
      return "Insufficient Partitioned GPU Devices";
    case DeviceRefusal::kNoTree:
      return "node(s) missing GPU Device Topology Tree";
    case DeviceRefusal::kMultiShared:
      return "node(s) Unsupported Multi-Shared GPU";
    case DeviceRefusal::kNoScope:
      return "Insufficient Topology Scoped GPU Devices";
    case DeviceRefusal::kTooFewCards:
      return "Insufficient GPU Devices";
    case DeviceRefusal::kTooFewInNumaNodes:
      return "Insufficient NUMA Scoped Devices";
  }
  return "";
}

DeviceResult AllocateDevices(const DeviceTask& task) { return Allocation(task).Run(); }

std::optional<DeviceType> TooFewInNumaNodes(const DeviceTask& task) {
  const NumaMask mask = *task.limits->numa_nodes;
  for (const DeviceType type : kAllDeviceTypes) {
    if (!task.requests.of(type)) continue;
    const auto there = std::ranges::count_if(task.devices.of(type), [&](const DeviceCard& card) {
      return card.device != nullptr && card.device->has_topology &&
             mask.Has(card.device->numa_node);
    });
    if (there > 0 && there < task.requests.of(type)->count) return type;
  }
  return {};
}

bool CompleteGpuShare(const NodeDevices& devices, DeviceGrant& grant) {
  const bool by_memory = grant.amounts.Has(kGpuMemory);
  if (by_memory == grant.amounts.Has(kGpuMemoryRatio)) return true;
  const DeviceCard* const card = devices.Find(DeviceType::kGpu, grant.minor);
  if (card == nullptr || card->total().empty()) return false;
  const int64_t total = card->total().Get(kGpuMemory);
  if (total <= 0) return true;  // nothing to tell
  if (by_memory) {
    const double share =
        static_cast<double>(grant.amounts.Get(kGpuMemory)) / static_cast<double>(total);
    grant.amounts.Set(kGpuMemoryRatio, static_cast<int64_t>(share * 100));
  } else {
    const int64_t ratio = grant.amounts.Get(kGpuMemoryRatio);
    grant.amounts.Set(kGpuMemory, static_cast<int64_t>(static_cast<__int128>(ratio) * total / 100));
  }
  return true;
}

}  // namespace koord::model
