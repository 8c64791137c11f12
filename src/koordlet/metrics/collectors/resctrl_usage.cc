#include "koordlet/metrics/collectors/resctrl_usage.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

constexpr std::array<std::string_view, 3> kGroups{"LSR", "LS", "BE"};
constexpr std::array<std::string_view, 6> kFlags{"cat_l3",        "mba",           "cqm_llc",
                                                 "cqm_occup_llc", "cqm_mbm_total", "cqm_mbm_local"};
constexpr std::string_view kMonitorPrefix = "mon_L3_";

}  // namespace

ResctrlUsageCollector::ResctrlUsageCollector(CollectorContext context)
    : Collector(context),
      llc_(context.external.AddGauges("koordlet_resctrl_llc_occupancy",
                                      "Bytes of last-level cache that a class occupies.",
                                      {"node", "cache_id", "qos"})),
      bandwidth_(context.external.AddGauges("koordlet_resctrl_memory_bandwidth",
                                            "Bytes that a class has moved to and from memory.",
                                            {"node", "cache_id", "qos", "mb_type"})) {}

bool ResctrlUsageCollector::IsSupported() const {
  const CpuInfo& cpu = *context_.info.cpu();
  return (cpu.vendor == "GenuineIntel" || cpu.vendor == "AuthenticAMD") &&
         std::ranges::all_of(kFlags, [&](std::string_view flag) {
           return std::ranges::find(cpu.flags, flag) != cpu.flags.end();
         });
}

std::optional<double> ResctrlUsageCollector::Read(std::string_view group, std::string_view monitor,
                                                  std::string_view file) {
  const std::string path = fmt::format("{}/mon_data/{}/{}", group, monitor, file);
  const auto text = context_.host.resctrl().Read(path);
  if (!text.ok()) {
    Complain(path, text.status());
    return std::nullopt;
  }
  // "Unavailable" while the hardware has no counter for the group.
  const auto number = NumberOf<uint64_t>(Trim(*text));
  if (!number) return std::nullopt;
  return static_cast<double>(*number);
}

void ResctrlUsageCollector::CollectCache(std::string_view group, std::string_view monitor,
                                         int32_t cache) {
  const std::string_view node = context_.options.node_name;
  const std::string id = std::to_string(cache);
  if (const auto bytes = Read(group, monitor, "llc_occupancy")) {
    context_.store.Append({Metric::kResctrlLlc, group, id}, *bytes);
    llc_.With({node, id, group}).Set(*bytes);
  }
  for (const auto& [file, kind] :
       {std::pair("mbm_local_bytes", "local"), std::pair("mbm_total_bytes", "total")}) {
    if (const auto bytes = Read(group, monitor, file)) {
      context_.store.Append({Metric::kResctrlBandwidth, group, fmt::format("{}/{}", id, kind)},
                            *bytes);
      bandwidth_.With({node, id, group, file}).Set(*bytes);
    }
  }
}

void ResctrlUsageCollector::CollectGroup(std::string_view group) {
  const auto monitors = context_.host.resctrl().List(fmt::format("{}/mon_data", group));
  if (!monitors.ok()) return Complain(group, monitors.status());
  for (const FileTree::Entry& entry : *monitors) {
    if (!entry.name.starts_with(kMonitorPrefix)) continue;
    const auto cache =
        NumberOf<int32_t>(std::string_view(entry.name).substr(kMonitorPrefix.size()));
    if (cache && *cache >= 0) CollectCache(group, entry.name, *cache);
  }
}

void ResctrlUsageCollector::Collect() {
  if (context_.info.cpu() == nullptr) return;
  has_synced_ = true;
  if (!IsSupported()) return;
  for (const std::string_view group : kGroups) CollectGroup(group);
}

}  // namespace koord::koordlet
