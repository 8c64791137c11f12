#include "koordlet/simulated_kernel/kernel_counters.h"

#include <fmt/compile.h>

namespace koord::koordlet {
namespace {

constexpr int64_t kNanosPerMicro = 1000;
constexpr int64_t kMicrosPerThrottling = 1000;
constexpr int64_t kKibibyte = 1024;

int64_t InUse(const MemoryStat& memory) {
  return memory.inactive_anon + memory.active_anon + memory.unevictable;
}
int64_t PageCache(const MemoryStat& memory) { return memory.inactive_file + memory.active_file; }

}  // namespace

std::string CpuStatText(CgroupVersion version, int64_t cpu_nanos, const CpuStat& stat) {
  const bool v1 = version == CgroupVersion::kV1;
  std::string text;
  if (!v1) text = fmt::format(FMT_COMPILE("usage_usec {}\n"), cpu_nanos / kNanosPerMicro);
  fmt::format_to(std::back_inserter(text),
                 FMT_COMPILE("nr_periods {}\nnr_throttled {}\nthrottled_{} {}"), stat.periods,
                 stat.throttled, v1 ? "time" : "usec", stat.throttled * kMicrosPerThrottling);
  return text;
}

MemoryStat ShareOf(const MemoryStat& memory, int parts) {
  return {.cache = memory.cache / parts,
          .rss = memory.rss / parts,
          .inactive_file = memory.inactive_file / parts,
          .active_file = memory.active_file / parts,
          .inactive_anon = memory.inactive_anon / parts,
          .active_anon = memory.active_anon / parts,
          .unevictable = memory.unevictable / parts};
}

int64_t MemoryUsageOf(const MemoryStat& memory) { return InUse(memory) + PageCache(memory); }

std::string MemoryStatText(CgroupVersion version, const MemoryStat& m) {
  const bool v1 = version == CgroupVersion::kV1;
  return fmt::format(
      FMT_COMPILE("{0}{1} {2}\n{0}{3} {4}\n{0}inactive_anon {5}\n{0}active_anon {6}\n"
                  "{0}inactive_file {7}\n{0}active_file {8}\n{0}unevictable {9}"),
      v1 ? "total_" : "", v1 ? "cache" : "file", m.cache, v1 ? "rss" : "anon", m.rss,
      m.inactive_anon, m.active_anon, m.inactive_file, m.active_file, m.unevictable);
}

std::string NumaStatText(CgroupVersion version, const MemoryStat& memory, int numa_nodes,
                         int64_t page_size) {
  const auto row = [&](int64_t amount) {
    std::string text;
    for (int node = 0; node < numa_nodes; ++node) {
      text += fmt::format(" N{}={}", node, amount / numa_nodes);
    }
    return text;
  };
  if (version == CgroupVersion::kV2) {
    return fmt::format("anon{}\nfile{}", row(InUse(memory)), row(PageCache(memory)));
  }
  std::string text = "total=0" + row(0);  // nothing in the directory itself
  for (const auto& [name, bytes] : {std::pair("total", InUse(memory)),
                                    {"file", PageCache(memory)},
                                    {"anon", memory.inactive_anon + memory.active_anon},
                                    {"unevictable", memory.unevictable}}) {
    const int64_t pages = bytes / page_size;
    text += fmt::format("\nhierarchical_{}={}{}", name, pages, row(pages));
  }
  return text;
}

std::string ProcStatText(int64_t nanos, std::span<const ProcessorTime> processors,
                         int64_t tick_nanos) {
  std::string lines = fmt::format("cpu  {} 0 0 0 0 0 0 0 0 0\n", nanos / tick_nanos);
  for (const ProcessorTime& each : processors) {
    fmt::format_to(std::back_inserter(lines), FMT_COMPILE("cpu{} {} 0 0 0 0 0 0 0 0 0\n"), each.cpu,
                   each.nanos / tick_nanos);
  }
  return lines + "ctxt 0\nbtime 0\nprocesses 1\n";
}

std::string MemInfoText(std::string_view prefix, int64_t total, const MemoryStat& memory) {
  const int64_t all = total / kKibibyte;
  const int64_t used = InUse(memory) / kKibibyte;
  const int64_t active = memory.active_file / kKibibyte;
  const int64_t inactive = memory.inactive_file / kKibibyte;
  std::string lines;
  for (const auto& [name, amount] :
       {std::pair("MemTotal", all), std::pair("MemFree", all - used - active - inactive),
        std::pair("MemAvailable", all - used), std::pair("Active(file)", active),
        std::pair("Inactive(file)", inactive), std::pair("SReclaimable", int64_t{0})}) {
    fmt::format_to(std::back_inserter(lines), FMT_COMPILE("{}{}: {:>12} kB\n"), prefix, name,
                   amount);
  }
  return lines;
}

}  // namespace koord::koordlet
