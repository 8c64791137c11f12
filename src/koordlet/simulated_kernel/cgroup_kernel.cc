#include "koordlet/simulated_kernel/cgroup_kernel.h"

#include <algorithm>

#include "base/cpu_set.h"
#include "base/strings.h"
#include "koordlet/host/kernel_text.h"
#include "koordlet/simulated_kernel/kernel_counters.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kNoMemoryLimitV1 = "9223372036854771712";
constexpr int64_t kPage = 4096;
constexpr int64_t kMinQuota = 1000;

std::string_view ParentOf(std::string_view dir) {
  const size_t slash = dir.rfind('/');
  return slash == dir.npos ? std::string_view() : dir.substr(0, slash);
}

Status Refuse(std::string_view path, std::string_view text, std::string_view why) {
  return InvalidArgument("{}: invalid argument {}: {}", path, Quote(text, 64), why);
}

bool IsOnlyInAnolis(CgroupFile file, CgroupVersion version) {
  switch (file) {
    case CgroupFile::kCpuBvt:
    case CgroupFile::kMemoryWmarkRatio:
    case CgroupFile::kMemoryWmarkScaleFactor:
    case CgroupFile::kMemoryWmarkMinAdj:
    case CgroupFile::kMemoryPriority:
    case CgroupFile::kMemoryUsePriorityOom:
    case CgroupFile::kPageCacheLimitEnable:
    case CgroupFile::kPageCacheLimitSize:
    case CgroupFile::kPageCacheLimitSync:
    case CgroupFile::kMemoryIdlePageStats:
    case CgroupFile::kBlkioCostWeight:
    case CgroupFile::kBlkioCostQos:
    case CgroupFile::kBlkioCostModel:
      return true;
    case CgroupFile::kCpuPressure:
    case CgroupFile::kMemoryPressure:
    case CgroupFile::kIoPressure:
    case CgroupFile::kMemoryMin:
    case CgroupFile::kMemoryLow:
    case CgroupFile::kMemoryHigh:
    case CgroupFile::kMemoryOomGroup:
      return version == CgroupVersion::kV1;
    default:
      return false;
  }
}

bool IsOnlyInRoot(CgroupFile file) {
  return file == CgroupFile::kBlkioCostQos || file == CgroupFile::kBlkioCostModel;
}

}  // namespace

struct CgroupKernel::Place {
  CgroupFile file;
  std::string path;
  std::string dir;
};

CgroupKernel::CgroupKernel(MemoryTree& tree, Options options)
    : tree_(tree), options_(std::move(options)), cgroups_(tree, options_.layout) {
  tree_.OnWrite([this](std::string_view path, std::string_view text) { return Write(path, text); });
  if (!tree_.List("").value().empty()) return;
  if (options_.layout.version == CgroupVersion::kV2) {
    tree_.Set("cgroup.controllers", "cpuset cpu io memory hugetlb pids\n");
  }
  Fill("");
}

bool CgroupKernel::Has(CgroupFile file) const {
  const CgroupVersion version = options_.layout.version;
  return InfoOf(file, version) != nullptr && (options_.anolis || !IsOnlyInAnolis(file, version));
}

std::vector<std::string_view> CgroupKernel::Subsystems() const {
  if (options_.layout.version == CgroupVersion::kV2) return {""};
  return {"cpu", "cpuset", "cpuacct", "memory", "blkio", "net_cls"};
}

void CgroupKernel::AddDirectory(std::string_view dir) {
  if (dir.empty() || cgroups_.HasDir(CgroupDir::At(dir))) return;
  AddDirectory(ParentOf(dir));
  Fill(dir);
}

void CgroupKernel::RemoveDirectory(std::string_view dir) {
  for (const std::string_view subsystem : Subsystems()) {
    tree_.Remove(subsystem.empty() ? std::string(dir) : fmt::format("{}/{}", subsystem, dir));
  }
}

void CgroupKernel::Fill(std::string_view dir) {
  for (int i = 0; i < kCgroupFileCount; ++i) {
    const auto file = static_cast<CgroupFile>(i);
    if (Has(file) && (dir.empty() || !IsOnlyInRoot(file))) Set(file, dir, DefaultOf(file, dir));
  }
  if (options_.layout.version == CgroupVersion::kV2) UpdateEffective(dir);
}

std::string CgroupKernel::DefaultOf(CgroupFile file, std::string_view dir) const {
  const bool v1 = options_.layout.version == CgroupVersion::kV1;
  switch (file) {
    case CgroupFile::kCpuStat:
    case CgroupFile::kCpuUsage:
      if (v1 && file == CgroupFile::kCpuUsage) return "0";
      return fmt::format("{}nr_periods 0\nnr_throttled 0\nthrottled_{} 0",
                         v1 ? "" : "usage_usec 0\n", v1 ? "time" : "usec");
    case CgroupFile::kCpuShares:
      return v1 ? "1024" : "100";
    case CgroupFile::kCpuQuota:
      return v1 ? "-1" : "max 100000";
    case CgroupFile::kCpuPeriod:
      return v1 ? "100000" : "max 100000";
    case CgroupFile::kCpuset:
      if (!v1) return "";
      return (dir.empty() ? options_.cpus : CpusOf(ParentOf(dir))).ToString();
    case CgroupFile::kThreads:
    case CgroupFile::kProcesses:
    case CgroupFile::kMemoryIdlePageStats:
    case CgroupFile::kBlkioReadIops:
    case CgroupFile::kBlkioReadBps:
    case CgroupFile::kBlkioWriteIops:
    case CgroupFile::kBlkioWriteBps:
    case CgroupFile::kBlkioCostQos:
    case CgroupFile::kBlkioCostModel:
      return "";
    case CgroupFile::kCpuPressure:
    case CgroupFile::kMemoryPressure:
    case CgroupFile::kIoPressure:
      return "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
             "full avg10=0.00 avg60=0.00 avg300=0.00 total=0";
    case CgroupFile::kMemoryLimit:
      return std::string(v1 ? kNoMemoryLimitV1 : "max");
    case CgroupFile::kMemoryHigh:
      return "max";
    case CgroupFile::kMemoryStat:
      return v1 ? "total_cache 0\ntotal_rss 0\ntotal_inactive_anon 0\ntotal_active_anon 0\n"
                  "total_inactive_file 0\ntotal_active_file 0\ntotal_unevictable 0"
                : "anon 0\nfile 0\ninactive_anon 0\nactive_anon 0\ninactive_file 0\n"
                  "active_file 0\nunevictable 0";
    case CgroupFile::kMemoryNumaStat:
      return NumaStatText(options_.layout.version, {}, options_.numa_nodes, kPage);
    case CgroupFile::kMemoryWmarkScaleFactor:
      return "50";
    case CgroupFile::kBlkioCostWeight:
      return "default 100";
    default:
      return "0";
  }
}

void CgroupKernel::Set(CgroupFile file, std::string_view dir, std::string_view text) {
  tree_.Set(cgroups_.PathOf(file, CgroupDir::At(dir)).value(),
            text.empty() ? "" : fmt::format("{}\n", text));
}

std::string CgroupKernel::Get(CgroupFile file, std::string_view dir) const {
  const auto text = tree_.Read(cgroups_.PathOf(file, CgroupDir::At(dir)).value());
  return text.ok() ? std::string(Trim(*text)) : std::string();
}

StatusOr<CgroupKernel::Place> CgroupKernel::Locate(std::string_view path) const {
  const CgroupVersion version = options_.layout.version;
  std::string_view dir = path;
  const std::string_view subsystem =
      version == CgroupVersion::kV1 ? TakeUntil(dir, '/') : std::string_view();
  const std::string_view name = dir.substr(dir.rfind('/') + 1);
  for (int i = 0; i < kCgroupFileCount; ++i) {
    const auto file = static_cast<CgroupFile>(i);
    const CgroupFileInfo* const info = InfoOf(file, version);
    if (info != nullptr && info->subsystem == subsystem && info->name == name) {
      return Place{file, std::string(path), std::string(ParentOf(dir))};
    }
  }
  return absl::PermissionDeniedError(fmt::format("{}: not writable", path));
}

Status CgroupKernel::Write(std::string_view path, std::string_view text) {
  ASSIGN_OR_RETURN(const Place place, Locate(path));
  text = Trim(text);
  switch (place.file) {
    case CgroupFile::kCpuset:
      return WriteCpuset(place, text);
    case CgroupFile::kCpuQuota:
      return WriteQuota(place, text);
    case CgroupFile::kCpuBurst:
      return WriteBurst(place, text);
    case CgroupFile::kMemoryLimit:
    case CgroupFile::kMemoryMin:
    case CgroupFile::kMemoryLow:
    case CgroupFile::kMemoryHigh:
      return WriteMemory(place, text);
    case CgroupFile::kBlkioReadIops:
    case CgroupFile::kBlkioReadBps:
    case CgroupFile::kBlkioWriteIops:
    case CgroupFile::kBlkioWriteBps:
    case CgroupFile::kBlkioCostWeight:
    case CgroupFile::kBlkioCostQos:
    case CgroupFile::kBlkioCostModel:
      return WriteDeviceLine(place, text);
    case CgroupFile::kCpuStat:
    case CgroupFile::kCpuUsage:
    case CgroupFile::kMemoryUsage:
    case CgroupFile::kMemoryStat:
    case CgroupFile::kMemoryNumaStat:
      return absl::PermissionDeniedError(fmt::format("{}: not writable", path));
    default:
      return WriteNumber(place, text);
  }
}

CpuSet CgroupKernel::CpusOf(std::string_view dir) const {
  return cgroups_.ReadCpuset(CgroupDir::At(dir)).value_or(CpuSet());
}

Status CgroupKernel::WriteCpuset(const Place& place, std::string_view text) {
  const auto cpus = CpuSet::Parse(text);
  if (!cpus.ok() || !options_.cpus.Includes(*cpus)) {
    return Refuse(place.path, text, "no CPUs of this machine");
  }
  if (options_.layout.version == CgroupVersion::kV2) {
    Set(place.file, place.dir, cpus->ToString());
    UpdateEffective(place.dir);
    return absl::OkStatus();
  }
  if (cpus->empty()) return FailedPrecondition("{}: no space left on device", place.path);
  if (!place.dir.empty() && !CpusOf(ParentOf(place.dir)).Includes(*cpus)) {
    return absl::PermissionDeniedError(fmt::format("{}: permission denied", place.path));
  }
  const auto children = cgroups_.SubDirs(CgroupDir::At(place.dir), "cpuset");
  for (const std::string& child : children.value_or(std::vector<std::string>())) {
    if (!cpus->Includes(CpusOf(fmt::format("{}/{}", place.dir, child)))) {
      return FailedPrecondition("{}: device or resource busy", place.path);
    }
  }
  Set(place.file, place.dir, cpus->ToString());
  return absl::OkStatus();
}

void CgroupKernel::UpdateEffective(std::string_view dir) {
  UpdateEffective(dir, dir.empty() ? options_.cpus : CpusOf(ParentOf(dir)));
}

void CgroupKernel::UpdateEffective(std::string_view dir, const CpuSet& parent) {
  const auto wanted = CpuSet::Parse(Get(CgroupFile::kCpuset, dir)).value();
  CpuSet effective = wanted & parent;
  if (effective.empty()) effective = parent;
  const std::string prefix = dir.empty() ? "" : fmt::format("{}/", dir);
  const std::string file = prefix + "cpuset.cpus.effective";
  const std::string text = effective.ToString() + "\n";
  // What is below follows from it, and has been brought up to date when it became so.
  if (const auto before = tree_.Read(file); before.ok() && *before == text) return;
  tree_.Set(file, text);
  for (const std::string& child : tree_.Directories(dir)) {
    if (tree_.Exists(prefix + child + "/cpuset.cpus")) UpdateEffective(prefix + child, effective);
  }
}

Limit CgroupKernel::QuotaOf(std::string_view dir) const {
  return cgroups_.ReadCpuQuota(CgroupDir::At(dir)).value_or(Limit::Unlimited());
}

bool CgroupKernel::ChildrenFit(std::string_view dir, Limit quota) const {
  const auto children = cgroups_.SubDirs(CgroupDir::At(dir));
  return std::ranges::all_of(children.value_or(std::vector<std::string>()),
                             [&](const std::string& name) {
                               const std::string child = fmt::format("{}/{}", dir, name);
                               const Limit own = QuotaOf(child);
                               return own.unlimited() ? ChildrenFit(child, quota) : own <= quota;
                             });
}

bool CgroupKernel::QuotaFits(std::string_view dir, Limit quota) const {
  std::string_view above = dir;
  Limit bound = Limit::Unlimited();
  while (!above.empty() && bound.unlimited()) {
    above = ParentOf(above);
    if (!above.empty()) bound = QuotaOf(above);
  }
  if (!quota.unlimited() && quota > bound) return false;
  return ChildrenFit(dir, quota.unlimited() ? bound : quota);
}

Status CgroupKernel::WriteQuota(const Place& place, std::string_view text) {
  const bool v1 = options_.layout.version == CgroupVersion::kV1;
  std::string_view rest = text;
  const std::string_view first = TakeWord(rest);
  const std::string_view period = TakeWord(rest);
  if (v1 ? first == "max" || !period.empty() : first == "-1") {
    return Refuse(place.path, text, "other words than this version's");
  }
  const auto quota = ParseLimit(first);
  if (!quota.ok() || quota->value() < kMinQuota) {
    return Refuse(place.path, text, "no quota of at least 1000");
  }
  if (!options_.anolis && BurstOf(place.dir) > quota->value()) {
    return Refuse(place.path, text, "less than the burst");
  }
  if (v1 && !QuotaFits(place.dir, *quota)) {
    return Refuse(place.path, text, "a child would have more than its parent");
  }
  if (v1) {
    Set(place.file, place.dir, text);
  } else {
    const std::string kept =
        std::to_string(cgroups_.ReadCpuPeriod(CgroupDir::At(place.dir)).value_or(100000));
    Set(place.file, place.dir,
        fmt::format("{} {}", first, period.empty() ? std::string_view(kept) : period));
  }
  return absl::OkStatus();
}

int64_t CgroupKernel::BurstOf(std::string_view dir) const {
  return NumberOf<int64_t>(Get(CgroupFile::kCpuBurst, dir)).value_or(0);
}

Status CgroupKernel::WriteBurst(const Place& place, std::string_view text) {
  const auto burst = NumberOf<int64_t>(text);
  if (burst && !options_.anolis && *burst > QuotaOf(place.dir).value()) {
    return Refuse(place.path, text, "more than the quota");
  }
  return WriteNumber(place, text);
}

Status CgroupKernel::WriteMemory(const Place& place, std::string_view text) {
  const bool limit_v1 =
      options_.layout.version == CgroupVersion::kV1 && place.file == CgroupFile::kMemoryLimit;
  if (text == "max" && limit_v1) return Refuse(place.path, text, "no number");
  if (text == "-1" && !limit_v1) return Refuse(place.path, text, "negative");
  const auto limit = ParseLimit(text);
  if (!limit.ok()) return Refuse(place.path, text, "no amount of memory");
  const bool unlimited = limit->value() / kPage * kPage >= *NumberOf<int64_t>(kNoMemoryLimitV1);
  Set(place.file, place.dir,
      unlimited ? std::string(limit_v1 ? kNoMemoryLimitV1 : "max")
                : std::to_string(limit->value() / kPage * kPage));
  return absl::OkStatus();
}

Status CgroupKernel::WriteDeviceLine(const Place& place, std::string_view text) {
  std::string_view rest = text;
  const std::string_view device = TakeWord(rest);
  rest = Trim(rest);
  const bool throttle =
      place.file >= CgroupFile::kBlkioReadIops && place.file <= CgroupFile::kBlkioWriteBps;
  if (device.find(':') == device.npos || rest.empty()) {
    return Refuse(place.path, text, "no device and value");
  }
  if ((throttle || place.file == CgroupFile::kBlkioCostWeight) && !NumberOf<uint64_t>(rest)) {
    return Refuse(place.path, text, "no number");
  }
  std::vector<std::string> lines;
  const std::string old = Get(place.file, place.dir);
  std::string_view left = old;
  while (!left.empty()) {
    const std::string_view line = TakeLine(left);
    if (!line.starts_with(fmt::format("{} ", device))) lines.emplace_back(line);
  }
  if (!(throttle && rest == "0")) lines.push_back(fmt::format("{} {}", device, rest));
  Set(place.file, place.dir, Join(lines, "\n"));
  return absl::OkStatus();
}

Status CgroupKernel::WriteNumber(const Place& place, std::string_view text) {
  const CgroupFileInfo& info = *InfoOf(place.file, options_.layout.version);
  const auto number = NumberOf<int64_t>(text);
  if (!number || *number < info.min.value_or(INT64_MIN) || *number > info.max.value_or(INT64_MAX)) {
    return Refuse(place.path, text, "out of range");
  }
  Set(place.file, place.dir, text);
  return absl::OkStatus();
}

}  // namespace koord::koordlet
