#include "koordlet/metrics/collectors/node_usage.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "koordlet/host/kernel_text.h"
#include "koordlet/metrics/collectors/meminfo.h"

namespace koord::koordlet {
namespace {

// Of a CPU in thousands of years: sums over all of them stay far from overflowing.
constexpr int64_t kMaxTicks = int64_t{1} << 44;

// user + nice + system + irq + softirq; idle, iowait, steal and guest time is nobody's use.
std::optional<int64_t> UsedTicks(std::string_view fields) {
  std::array<int64_t, 7> ticks{};
  for (int64_t& value : ticks) {
    const auto number = NumberOf<int64_t>(TakeWord(fields));
    if (!number || *number < 0 || *number > kMaxTicks) return std::nullopt;
    value = *number;
  }
  return ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
}

}  // namespace

NodeUsageCollector::NodeUsageCollector(CollectorContext context)
    : Collector(context),
      used_cpu_(context.internal.AddGauges("koordlet_node_used_cpu_cores",
                                           "CPU that the node uses.", {"node"})),
      used_memory_(context.internal.AddGauges("koordlet_node_used_memory_bytes",
                                              "Memory that the node uses, page cache aside.",
                                              {"node"})),
      numa_status_(context.internal.AddCounters("koordlet_collect_node_numa_info_status",
                                                "How often NUMA nodes were read.",
                                                {"node", "status"})) {}

void NodeUsageCollector::FollowTopology() {
  if (topology_ == context_.info.cpu()) return;
  topology_ = context_.info.cpu();
  node_of_cpu_.clear();
  numa_ticks_.clear();
  int32_t nodes = 0;
  for (const Processor& processor : topology_->topology.processors()) {
    if (processor.cpu < 0 || processor.node < 0) continue;
    const auto cpu = static_cast<size_t>(processor.cpu);
    if (node_of_cpu_.size() <= cpu) node_of_cpu_.resize(cpu + 1, -1);
    node_of_cpu_[cpu] = processor.node;
    nodes = std::max(nodes, processor.node + 1);
  }
  numa_ticks_.resize(static_cast<size_t>(nodes));
}

StatusOr<std::optional<NodeUsageCollector::Cpu>> NodeUsageCollector::ReadCpu() {
  ASSIGN_OR_RETURN(std::string_view text, stat_.Read(context_.host.proc(), buffer_));
  const SteadyTime now = Now();
  std::optional<int64_t> total;
  numa_sums_.assign(numa_ticks_.size(), 0);
  while (text.starts_with("cpu")) {
    std::string_view line = TakeLine(text);
    const std::string_view who = TakeWord(line).substr(3);
    const auto ticks = UsedTicks(line);
    if (!ticks) return InvalidArgument("stat: cpu{} has no times", Quote(who, 16));
    if (who.empty()) total = ticks;
    const auto cpu = NumberOf<size_t>(who);
    if (cpu && *cpu < node_of_cpu_.size() && node_of_cpu_[*cpu] >= 0) {
      numa_sums_[static_cast<size_t>(node_of_cpu_[*cpu])] += *ticks;
    }
  }
  if (!total) return InvalidArgument("stat: no line cpu");
  // Ticks per nanosecond times nanoseconds per tick are cores.
  const auto jiffy = static_cast<double>(context_.host.kernel().jiffy().count());
  Cpu cpu;
  for (size_t node = 0; node < numa_sums_.size(); ++node) {
    const auto rate = numa_ticks_[node].Update(numa_sums_[node], now, MaxAge());
    if (rate) cpu.numa_cores.push_back(*rate * jiffy);
  }
  if (cpu.numa_cores.size() != numa_sums_.size()) cpu.numa_cores.clear();
  const auto rate = ticks_.Update(*total, now, MaxAge());
  if (!rate) return std::nullopt;
  cpu.cores = *rate * jiffy;
  return cpu;
}

void NodeUsageCollector::CollectNuma(const std::vector<double>& numa_cores) {
  UsageSum& node = context_.usage.node;
  const auto numa = context_.host.ReadNumaNodes();
  numa_status_.With({context_.options.node_name, numa.ok() ? "succeeded" : "failed"}).Increment();
  node.numa_cores = numa_cores;
  node.numa_bytes.clear();
  if (!numa.ok()) return Complain("NUMA nodes", numa.status());
  while (numa_names_.size() < std::max(numa->size(), numa_cores.size())) {
    numa_names_.push_back(std::to_string(numa_names_.size()));
  }
  for (size_t i = 0; i < numa_cores.size(); ++i) {
    context_.store.Append({Metric::kNodeNumaCpu, "", numa_names_[i]}, numa_cores[i]);
  }
  for (const NumaNode& part : *numa) {
    node.numa_bytes.push_back(static_cast<double>(part.memory_used));
    context_.store.Append({Metric::kNodeNumaMemory, "", numa_names_[node.numa_bytes.size() - 1]},
                          node.numa_bytes.back());
  }
  context_.info.SetNuma(*numa);
}

void NodeUsageCollector::Collect() {
  if (context_.info.cpu() != nullptr) FollowTopology();
  const auto cpu = ReadCpu();
  if (!cpu.ok()) return Complain("stat", cpu.status());
  const auto text = meminfo_.Read(context_.host.proc(), buffer_);
  const auto memory = text.ok() ? ParseMemInfoUsage(*text) : StatusOr<MemInfoUsage>(text.status());
  if (!memory.ok()) return Complain("meminfo", memory.status());
  CollectNuma(cpu->has_value() ? (*cpu)->numa_cores : std::vector<double>());
  if (!cpu->has_value()) return;
  UsageSum& node = context_.usage.node;
  node.at = Now();
  node.is_known = true;
  node.cores = (*cpu)->cores;
  node.bytes = memory->used;
  context_.store.Append({Metric::kNodeCpu}, node.cores);
  context_.store.Append({Metric::kNodeMemory}, node.bytes);
  if (context_.options.page_cache) {
    context_.store.Append({Metric::kNodeMemoryWithPageCache}, memory->with_page_cache);
  }
  used_cpu_.With({context_.options.node_name}).Set(node.cores);
  used_memory_.With({context_.options.node_name}).Set(node.bytes);
  has_synced_ = true;
}

}  // namespace koord::koordlet
