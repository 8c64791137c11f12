#include "scheduler/books/cpu_book.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>

#include "api/cpu_annotations.h"
#include "api/keys.h"

namespace koord::scheduler {
namespace {

void Book(std::vector<Holdings::Zone>& held, const std::vector<Holdings::Zone>& zones, int sign) {
  for (const Holdings::Zone& zone : zones) {
    auto at = std::ranges::lower_bound(held, zone.numa_node, {}, &Holdings::Zone::numa_node);
    if (at == held.end() || at->numa_node != zone.numa_node) {
      at = held.insert(at, {zone.numa_node, {}});
    }
    AddTo(at->amounts, zone.amounts, sign);
    DropZeros(at->amounts);
    if (at->amounts.empty()) held.erase(at);
  }
}

bool MayShareRoom(const PodInfo& pod) { return pod.held->reserves || pod.held->draws_from; }

bool DrawsFrom(const PodInfo& owner, const PodInfo& reserve_pod) {
  return owner.held->draws_from && owner.held->draws_from->uid == reserve_pod.held->reserves->uid;
}

// Of `zones`, what `used` does not have.
std::vector<Holdings::Zone> Beyond(const std::vector<Holdings::Zone>& zones,
                                   const std::vector<Holdings::Zone>& used) {
  std::vector<Holdings::Zone> beyond;
  for (const Holdings::Zone& zone : zones) {
    const auto at = std::ranges::find(used, zone.numa_node, &Holdings::Zone::numa_node);
    ResourceAmounts amounts;
    for (const ResourceAmount& each : zone.amounts) {
      const int64_t taken = at == used.end() ? 0 : AmountOf(at->amounts, each.id);
      if (each.amount > taken) amounts.push_back({each.id, each.amount - taken});
    }
    if (!amounts.empty()) beyond.push_back({zone.numa_node, std::move(amounts)});
  }
  return beyond;
}

}  // namespace

model::CpuExclusivePolicy ExclusivePolicyOf(const kube::Pod& pod) {
  const std::string* text = kube::FindValue(pod.metadata.annotations, api::kAnnotationResourceSpec);
  // Nearly nobody says anything of it, and this is asked whenever CPUs are given or taken.
  if (text == nullptr || text->find("xclusive") == std::string::npos) {
    return model::CpuExclusivePolicy::kNone;
  }
  const auto spec = api::ResourceSpecOf(pod.metadata.annotations);
  if (!spec.ok() || !*spec) return model::CpuExclusivePolicy::kNone;
  const std::string& policy = (*spec)->preferred_cpu_exclusive_policy;
  if (policy == api::kCpuExclusivePcpuLevel) return model::CpuExclusivePolicy::kPcpuLevel;
  if (policy == api::kCpuExclusiveNumaNodeLevel) return model::CpuExclusivePolicy::kNumaNodeLevel;
  return model::CpuExclusivePolicy::kNone;
}

CpuSet CpuBook::Row::FreeCpus() const {
  if (!valid()) return {};
  return topology->cpus->cpus() - occupancy.holders.AtLeast(occupancy.max_holders) -
         topology->reserved;
}

CpuBook::Row::Left CpuBook::Row::LeftOf(const PodInfo& reserve_pod) const {
  if (!Holds(reserve_pod)) return {};
  Left left{reserve_pod.held->cpus, {}};
  std::vector<Holdings::Zone> used;
  for (const PodInfo* owner : sharing) {
    if (!DrawsFrom(*owner, reserve_pod)) continue;
    left.cpus -= owner->held->cpus;
    Book(used, owner->held->zones, 1);
  }
  left.zones = Beyond(reserve_pod.held->zones, used);
  return left;
}

void CpuBook::Row::Charge(const CpuSet& cpus, const std::vector<Holdings::Zone>& zones,
                          model::CpuExclusivePolicy policy, int sign) {
  if (sign > 0) {
    occupancy.Add(cpus, policy);
  } else {
    occupancy.Remove(cpus, policy);
  }
  Book(held, zones, sign);
}

// A reservation is charged what it has left: the rest is charged to its owners.
void CpuBook::Row::AddSharing(const PodInfo& pod, int sign) {
  const auto charge_reservations = [&](int how) {
    for (const PodInfo* each : sharing) {
      if (!each->held->reserves) continue;
      const Left left = LeftOf(*each);
      Charge(left.cpus, left.zones, ExclusivePolicyOf(*each->pod), how);
    }
  };
  charge_reservations(-1);
  if (!pod.held->reserves) {
    Charge(pod.held->cpus, pod.held->zones, ExclusivePolicyOf(*pod.pod), sign);
  }
  if (sign > 0) {
    sharing.push_back(&pod);
  } else {
    std::erase(sharing, &pod);
  }
  charge_reservations(1);
}

void CpuBook::Row::Add(const PodInfo& pod) {
  if (!Holds(pod)) return;
  if (MayShareRoom(pod)) return AddSharing(pod, 1);
  Charge(pod.held->cpus, pod.held->zones, ExclusivePolicyOf(*pod.pod), 1);
}

void CpuBook::Row::Remove(const PodInfo& pod) {
  if (!Holds(pod)) return;
  if (MayShareRoom(pod)) return AddSharing(pod, -1);
  Charge(pod.held->cpus, pod.held->zones, ExclusivePolicyOf(*pod.pod), -1);
}

void CpuBook::Row::Count() {
  free = {};
  if (!valid()) return;
  const model::CpuTopology& machine = *topology->cpus;
  const int64_t per_core = machine.cpus_per_core();
  absl::InlinedVector<uint16_t, 256> of_core(machine.cores().size(), 0);
  for (const int32_t cpu : FreeCpus()) {
    const uint16_t count = ++of_core[machine.PlaceOf(cpu).core];
    ++free.any;
    free.cores += count == 1 ? 1 : 0;
    free.whole_cores += count == per_core ? per_core : 0;
    // More than others have: such cores are not whole to anybody who counts on average.
    if (count == per_core + 1) free.whole_cores -= per_core;
  }
}

CpuBook::CpuBook(Ledger& ledger, ObjectCache<api::NodeResourceTopology>& topologies)
    : ledger_(ledger), topologies_(topologies), reader_(ledger.resources()) {
  ledger.AddListener(*this);
  topologies.AddWatcher(
      [this](const auto& before, const auto& after) { OnTopology(before, after); });
}

CpuBook::Row CpuBook::With(NodeRow row, std::span<const PodInfo* const> removed,
                           std::span<const PodInfo* const> added) const {
  Row changed = rows_[row];
  for (const PodInfo* pod : removed) changed.Remove(*pod);
  for (const PodInfo* pod : added) changed.Add(*pod);
  changed.Count();
  return changed;
}

void CpuBook::GrowTo(size_t rows) {
  if (rows > rows_.size()) rows_.resize(rows);
}

void CpuBook::OnNodeAdded(NodeRow row) {
  GrowTo(ledger_.nodes().rows());
  SetTopology(row, topologies_.Find(ledger_.nodes().name(row)));
}

void CpuBook::OnNodeRemoved(NodeRow row) { SetTopology(row, nullptr); }

void CpuBook::OnTopology(const std::shared_ptr<const api::NodeResourceTopology>& before,
                         const std::shared_ptr<const api::NodeResourceTopology>& after) {
  const auto row = ledger_.nodes().Find((after ? after : before)->metadata.name);
  if (!row || !ledger_.nodes().IsLive(*row)) return;
  SetTopology(*row, after.get());
  ledger_.nodes().Touch(*row);
}

void CpuBook::SetTopology(NodeRow at, const api::NodeResourceTopology* object) {
  Row& row = rows_[at];
  row.topology = object == nullptr ? nullptr : reader_.Read(*object);
  row.Count();
}

void CpuBook::OnPodAdded(const PodInfo& pod) {
  if (!Holds(pod)) return;
  GrowTo(ledger_.nodes().rows());
  Row& row = rows_[pod.row];
  row.Add(pod);
  row.Count();
}

void CpuBook::OnPodRemoved(const PodInfo& pod) {
  if (!Holds(pod)) return;
  Row& row = rows_[pod.row];
  row.Remove(pod);
  row.Count();
}

}  // namespace koord::scheduler
