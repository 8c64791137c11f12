#include "base/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/strings.h"

namespace koord::metrics {
namespace {

// Fields of /proc/self/stat, counted from 0 after the name of the program: that may contain
// anything.
constexpr size_t kUserTime = 11, kSystemTime = 12, kStartTime = 19, kVirtualBytes = 20,
                 kResidentPages = 21;

std::vector<double> ProcessStat(const std::string& proc) {
  const StatusOr<std::string> text = ReadFile(proc + "/self/stat");
  if (!text.ok()) return {};
  std::string_view rest = *text;
  rest.remove_prefix(std::min(rest.size(), rest.rfind(')') + 2));
  std::vector<double> fields;
  for (const std::string_view field : Split(Trim(rest), ' ')) {
    fields.push_back(static_cast<double>(ParseInt(field).value_or(0)));
  }
  if (fields.size() <= kResidentPages) return {};
  return fields;
}

std::optional<double> BootTime(const std::string& proc) {
  const StatusOr<std::string> text = ReadFile(proc + "/stat");
  if (!text.ok()) return {};
  constexpr std::string_view kKey = "btime ";
  for (const std::string_view line : Split(*text, '\n')) {
    if (!line.starts_with(kKey)) continue;
    if (const auto seconds = ParseInt(line.substr(kKey.size()))) return double(*seconds);
  }
  return {};
}

std::optional<double> OpenFiles(const std::string& proc) {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator it(proc + "/self/fd", error), end; !error && it != end;
       it.increment(error)) {
    ++count;
  }
  if (error) return {};
  return count;
}

double Limit(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return -1;
  return static_cast<double>(limit.rlim_cur);
}

void Update(Registry& registry, const std::string& proc) {
  if (const auto files = OpenFiles(proc)) {
    registry.AddGauge("process_open_fds", "Number of open file descriptors.").Set(*files);
  }
  registry.AddGauge("process_max_fds", "Maximum number of open file descriptors.")
      .Set(Limit(RLIMIT_NOFILE));
  registry
      .AddGauge("process_virtual_memory_max_bytes",
                "Maximum amount of virtual memory available in bytes.")
      .Set(Limit(RLIMIT_AS));
  const std::vector<double> stat = ProcessStat(proc);
  if (stat.empty()) return;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  registry
      .AddCounter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.")
      .SetTotal((stat[kUserTime] + stat[kSystemTime]) / ticks);
  registry.AddGauge("process_resident_memory_bytes", "Resident memory size in bytes.")
      .Set(stat[kResidentPages] * page);
  registry.AddGauge("process_virtual_memory_bytes", "Virtual memory size in bytes.")
      .Set(stat[kVirtualBytes]);
  if (const auto boot = BootTime(proc)) {
    registry
        .AddGauge("process_start_time_seconds",
                  "Start time of the process since unix epoch in seconds.")
        .Set(*boot + stat[kStartTime] / ticks);
  }
}

}  // namespace

void AddProcessMetrics(Registry& registry, const std::string& proc) {
  registry.BeforeText([&registry, proc] { Update(registry, proc); });
}

}  // namespace koord::metrics
