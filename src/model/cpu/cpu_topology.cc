#include "model/cpu/cpu_topology.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace koord::model {
namespace {

// Sockets and cores share the bits of a number; no machine comes near either bound.
constexpr int32_t kCoreBits = 16;
constexpr int32_t kMaxCoresOfSocket = 1 << kCoreBits;
constexpr int32_t kMaxSockets = 1 << (31 - kCoreBits);

template <class Key>
int64_t CountDistinct(const std::vector<Processor>& processors, Key key) {
  std::set<decltype(key(processors.front()))> distinct;
  for (const Processor& processor : processors) distinct.insert(key(processor));
  return static_cast<int64_t>(distinct.size());
}

// Units in the order of their keys, which begin with the number. tell(i, place) for each processor.
template <class Key, class Tell>
std::vector<CpuTopology::Unit> UnitsBy(const std::vector<Processor>& processors, Key key,
                                       Tell tell) {
  std::map<decltype(key(processors.front())), uint32_t> place_of;
  for (const Processor& each : processors) place_of.emplace(key(each), 0);
  std::vector<CpuTopology::Unit> units;
  for (auto& [unit, place] : place_of) {
    place = static_cast<uint32_t>(units.size());
    units.push_back({.id = std::get<0>(unit), .cpus = {}});
  }
  for (size_t i = 0; i < processors.size(); ++i) {
    const uint32_t place = place_of.at(key(processors[i]));
    units[place].cpus.Add(processors[i].cpu);
    tell(i, place);
  }
  return units;
}

Status CheckNumber(const api::CpuInfo& cpu, std::string_view what, int32_t number, int32_t limit) {
  if (0 <= number && number < limit) return absl::OkStatus();
  return InvalidArgument("{} {} of CPU {} is out of range: expected 0 to {}", what, number, cpu.id,
                         limit - 1);
}

StatusOr<Processor> ProcessorOf(const api::CpuInfo& cpu) {
  RETURN_IF_ERROR(CheckNumber(cpu, "id", cpu.id, CpuSet::kMaxCpus));
  RETURN_IF_ERROR(CheckNumber(cpu, "core", cpu.core, kMaxCoresOfSocket));
  RETURN_IF_ERROR(CheckNumber(cpu, "socket", cpu.socket, kMaxSockets));
  RETURN_IF_ERROR(CheckNumber(cpu, "node", cpu.node, std::numeric_limits<int32_t>::max()));
  return Processor{.cpu = cpu.id,
                   .core = cpu.socket << kCoreBits | cpu.core,
                   .socket = cpu.socket,
                   .node = cpu.node};
}

}  // namespace

CpuTopology::CpuTopology(std::vector<Processor> processors) {
  std::map<int32_t, Processor> by_cpu;
  for (const Processor& each : processors) {
    if (CpuSet::IsCpu(each.cpu)) by_cpu.insert_or_assign(each.cpu, each);
  }
  for (const auto& [cpu, processor] : by_cpu) processors_.push_back(processor);
  std::ranges::sort(processors_, {},
                    [](const Processor& p) { return std::tuple(p.node, p.socket, p.core, p.cpu); });
  for (const Processor& each : processors_) cpus_.Add(each.cpu);
  if (!by_cpu.empty()) {
    index_of_cpu_.assign(by_cpu.rbegin()->first + 1, std::numeric_limits<uint32_t>::max());
    for (uint32_t i = 0; i < processors_.size(); ++i) index_of_cpu_[processors_[i].cpu] = i;
  }
  places_.resize(processors_.size());
  cores_ = UnitsBy(
      processors_, [](const Processor& p) { return std::tuple(p.core, p.socket, p.node); },
      [&](size_t i, uint32_t place) { places_[i].core = place; });
  nodes_ = UnitsBy(
      processors_, [](const Processor& p) { return std::tuple(p.node); },
      [&](size_t i, uint32_t place) { places_[i].node = place; });
  sockets_ = UnitsBy(
      processors_, [](const Processor& p) { return std::tuple(p.socket); },
      [&](size_t i, uint32_t place) { places_[i].socket = place; });
  node_part_count_ =
      CountDistinct(processors_, [](const Processor& p) { return std::tuple(p.socket, p.node); });
}

StatusOr<CpuTopology> CpuTopology::FromAnnotation(const api::CpuTopology& annotation) {
  std::vector<Processor> processors;
  processors.reserve(annotation.detail.size());
  for (const api::CpuInfo& cpu : annotation.detail) {
    ASSIGN_OR_RETURN(const Processor processor, ProcessorOf(cpu));
    processors.push_back(processor);
  }
  return CpuTopology(std::move(processors));
}

api::CpuTopology CpuTopology::ToAnnotation() const {
  api::CpuTopology annotation;
  annotation.detail.reserve(processors_.size());
  for (const Processor& each : processors_) {
    annotation.detail.push_back(
        {.id = each.cpu, .core = each.core, .socket = each.socket, .node = each.node});
  }
  std::ranges::sort(annotation.detail, {}, &api::CpuInfo::id);
  return annotation;
}

const Processor* CpuTopology::Find(int32_t cpu) const {
  if (!cpus_.Contains(cpu)) return nullptr;
  return &processors_[index_of_cpu_[cpu]];
}

CpuSet CpuTopology::CpusOfNode(int32_t node) const {
  CpuSet cpus;
  for (const Processor& each : processors_) {
    if (each.node == node) cpus.Add(each.cpu);
  }
  return cpus;
}

}  // namespace koord::model
