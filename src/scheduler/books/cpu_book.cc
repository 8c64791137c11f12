#include "scheduler/books/cpu_book.h"

#include <algorithm>

#include "api/cpu_annotations.h"
#include "api/keys.h"

namespace koord::scheduler {
namespace {

bool HoldsCpusOrZones(const PodInfo& pod) {
  return pod.held != nullptr && !(pod.held->cpus.empty() && pod.held->zones.empty());
}

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

}  // namespace

model::CpuExclusivePolicy ExclusivePolicyOf(const kube::Pod& pod) {
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

void CpuBook::Row::Add(const PodInfo& pod) {
  if (!HoldsCpusOrZones(pod)) return;
  occupancy.Add(pod.held->cpus, ExclusivePolicyOf(*pod.pod));
  Book(held, pod.held->zones, 1);
}

void CpuBook::Row::Remove(const PodInfo& pod) {
  if (!HoldsCpusOrZones(pod)) return;
  occupancy.Remove(pod.held->cpus, ExclusivePolicyOf(*pod.pod));
  Book(held, pod.held->zones, -1);
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
  Count(changed);
  return changed;
}

void CpuBook::Count(Row& row) {
  row.free = {};
  if (!row.valid()) return;
  const CpuSet free = row.FreeCpus();
  row.free.any = static_cast<int64_t>(free.size());
  const int64_t per_core = row.topology->cpus->cpus_per_core();
  for (const model::CpuTopology::Unit& core : row.topology->cpus->cores()) {
    const auto count = static_cast<int64_t>((free & core.cpus).size());
    row.free.cores += count > 0 ? 1 : 0;
    row.free.whole_cores += count == per_core ? count : 0;
  }
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
  Count(row);
}

void CpuBook::OnPodAdded(const PodInfo& pod) {
  if (!HoldsCpusOrZones(pod)) return;
  GrowTo(ledger_.nodes().rows());
  Row& row = rows_[pod.row];
  row.Add(pod);
  Count(row);
}

void CpuBook::OnPodRemoved(const PodInfo& pod) {
  if (!HoldsCpusOrZones(pod)) return;
  Row& row = rows_[pod.row];
  row.Remove(pod);
  Count(row);
}

}  // namespace koord::scheduler
