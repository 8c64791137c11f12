#include "koordlet/metrics/collectors/cold_memory.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "koordlet/host/kernel_text.h"
#include "koordlet/metrics/collectors/cgroup_usage.h"
#include "koordlet/metrics/collectors/meminfo.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kScanPeriod = "kernel/mm/kidled/scan_period_in_seconds";
constexpr std::string_view kUseHierarchy = "kernel/mm/kidled/use_hierarchy";
// Clean and dirty pages of files, evictable and not, that are inactive.
constexpr std::array<std::string_view, 4> kRows{"cfei", "dfei", "cfui", "dfui"};
constexpr int kFirstColdBucket = 5;
constexpr int kBuckets = 8;
constexpr int kLines = 31;  // counted with what comes after the last line break, or without

Update Setting(std::string_view path, std::string_view value) {
  return {.target = FileTarget{FileTarget::Tree::kSys, std::string(path)},
          .value = std::string(value),
          .about = {.reason = "EnableColdPageCollector"}};
}

std::optional<int64_t> ColdOfRow(std::string_view row) {
  int64_t sum = 0;
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    const auto bytes = NumberOf<int64_t>(TakeWord(row));
    if (!bytes || *bytes < 0 || *bytes > (int64_t{1} << 56)) return std::nullopt;
    if (bucket >= kFirstColdBucket) sum += *bytes;
  }
  return sum;
}

}  // namespace

StatusOr<int64_t> ParseColdBytes(std::string_view text) {
  int64_t sum = 0;
  int lines = 0;
  size_t rows = 0;
  while (!text.empty() && lines <= kLines) {
    std::string_view line = TakeLine(text);
    ++lines;
    const std::string_view name = TakeWord(line);
    if (std::ranges::find(kRows, name) == kRows.end()) continue;
    const auto cold = ColdOfRow(line);
    if (!cold) return InvalidArgument("idle_page_stats: {} has no {} numbers", name, kBuckets);
    sum += *cold;
    ++rows;
  }
  if ((lines != kLines && lines + 1 != kLines) || rows != kRows.size()) {
    return InvalidArgument("idle_page_stats has {} lines and {} rows of files: expected {} and {}",
                           lines, rows, kLines, kRows.size());
  }
  return sum;
}

bool ColdMemoryCollector::SwitchOn() {
  const FileTree& sys = context_.host.sys();
  if (!sys.Exists(kScanPeriod) || !sys.Exists(kUseHierarchy)) return false;
  for (const auto& [path, value] : {std::pair(kScanPeriod, "5"), std::pair(kUseHierarchy, "1")}) {
    const auto result = context_.executor.Apply(Setting(path, value));
    if (!result.ok()) {
      Complain(path, result.status());
      return false;
    }
  }
  return true;
}

void ColdMemoryCollector::CollectNode() {
  const auto text = node_cold_.Read(context_.host.cgroups(), CgroupFile::kMemoryIdlePageStats,
                                    CgroupDir(), buffer_);
  const auto cold = text.ok() ? ParseColdBytes(*text) : StatusOr<int64_t>(text.status());
  if (!cold.ok()) return Complain("node", cold.status());
  const auto info_text = meminfo_.Read(context_.host.proc(), buffer_);
  const auto info =
      info_text.ok() ? ParseMemInfoUsage(*info_text) : StatusOr<MemInfoUsage>(info_text.status());
  if (!info.ok()) return Complain("meminfo", info.status());
  const auto bytes = static_cast<double>(*cold);
  context_.store.Append({Metric::kNodeColdMemory}, bytes);
  context_.store.Append({Metric::kNodeMemoryWithHotPages},
                        std::max(info->with_page_cache - bytes, 0.0));
}

void ColdMemoryCollector::CollectOne(Pods::Entry& entry) {
  const Cgroups& cgroups = context_.host.cgroups();
  const auto text =
      entry.memory.cold.Read(cgroups, CgroupFile::kMemoryIdlePageStats, entry.dir(), buffer_);
  const auto cold = text.ok() ? ParseColdBytes(*text) : StatusOr<int64_t>(text.status());
  if (!cold.ok()) return Complain(entry.dir(), cold.status());
  const auto stat_text =
      entry.memory.stat.Read(cgroups, CgroupFile::kMemoryStat, entry.dir(), buffer_);
  const auto stat = stat_text.ok() ? ParseMemoryStat(*stat_text, cgroups.layout().version)
                                   : StatusOr<MemoryStat>(stat_text.status());
  if (!stat.ok()) return Complain(entry.dir(), stat.status());
  const bool is_pod = entry.container == nullptr;
  const auto bytes = static_cast<double>(*cold);
  context_.store.Append(
      {is_pod ? Metric::kPodColdMemory : Metric::kContainerColdMemory, entry.subject()}, bytes);
  context_.store.Append(
      {is_pod ? Metric::kPodMemoryWithHotPages : Metric::kContainerMemoryWithHotPages,
       entry.subject()},
      std::max(UseOf(*stat).with_page_cache - bytes, 0.0));
}

void ColdMemoryCollector::Collect() {
  if (!context_.state.has_pods()) return;
  has_synced_ = true;
  const CgroupDir kubepods = context_.host.cgroups().layout().QosDir(kube::PodQos::kGuaranteed);
  if (!context_.host.cgroups().IsSupported(CgroupFile::kMemoryIdlePageStats, kubepods)) return;
  if (!SwitchOn()) return;
  CollectNode();
  pods_.Follow(context_.state);
  for (Pods::Entry& entry : pods_.entries()) CollectOne(entry);
}

}  // namespace koord::koordlet
