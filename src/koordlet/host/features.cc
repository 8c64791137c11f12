#include "koordlet/host/features.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>

#include "base/strings.h"

namespace koord::koordlet {
namespace {

// Empty: available.
using Probe = std::function<std::string(Host&)>;

CgroupDir KubepodsDir(Host& host) {
  return host.cgroups().layout().QosDir(kube::PodQos::kGuaranteed);
}

// Where the kernel shows what it has. Before a kubelet has made the directory of pods, any cgroup
// of the machine's services is as good: the files of a directory are those of its controllers.
std::vector<CgroupDir> DirsToLookAt(Host& host, std::string_view subsystem) {
  const Cgroups& cgroups = host.cgroups();
  const CgroupDir kubepods = KubepodsDir(host);
  const std::string in_subsystem = cgroups.layout().version == CgroupVersion::kV1
                                       ? fmt::format("{}/{}", subsystem, kubepods.path())
                                       : kubepods.path();
  if (cgroups.tree().Exists(in_subsystem)) return {kubepods};
  std::vector<CgroupDir> dirs;
  for (const std::string& name :
       cgroups.SubDirs(CgroupDir(), subsystem).value_or(std::vector<std::string>())) {
    dirs.push_back(CgroupDir().Below(name));
  }
  return dirs;
}

// None: no directory has the file. This version of cgroups knows it.
std::optional<CgroupDir> DirWith(Host& host, CgroupFile file) {
  const Cgroups& cgroups = host.cgroups();
  const CgroupFileInfo& info = *InfoOf(file, cgroups.layout().version);
  for (const CgroupDir& dir : DirsToLookAt(host, info.subsystem)) {
    if (cgroups.tree().Exists(*cgroups.PathOf(file, dir))) return dir;
  }
  return std::nullopt;
}

std::string WhyNoFile(Host& host, CgroupFile file) {
  const Cgroups& cgroups = host.cgroups();
  const CgroupFileInfo* const info = InfoOf(file, cgroups.layout().version);
  if (info == nullptr) {
    return cgroups.layout().version == CgroupVersion::kV1 ? "only with cgroups version 2"
                                                          : "only with cgroups version 1";
  }
  if (info->check == CgroupCheck::kInRoot) {
    const std::string path = *cgroups.PathOf(file, CgroupDir());
    return cgroups.tree().Exists(path) ? "" : fmt::format("{} is missing", path);
  }
  if (DirWith(host, file)) return "";
  const CgroupDir kubepods = KubepodsDir(host);
  if (DirsToLookAt(host, info->subsystem) == std::vector{kubepods}) {
    return fmt::format("{} is missing", *cgroups.PathOf(file, kubepods));
  }
  return fmt::format("no cgroup has {}, and the kubelet has made none of its own yet", info->name);
}

Probe AllOf(std::initializer_list<CgroupFile> files) {
  return [files = std::vector(files)](Host& host) {
    for (const CgroupFile file : files) {
      if (std::string why = WhyNoFile(host, file); !why.empty()) return why;
    }
    return std::string();
  };
}

std::string WhyNoSuppress(Host& host) {
  const std::string cpuset = WhyNoFile(host, CgroupFile::kCpuset);
  const std::string quota = WhyNoFile(host, CgroupFile::kCpuQuota);
  return cpuset.empty() || quota.empty() ? "" : fmt::format("{}, {}", cpuset, quota);
}

std::string WhyNoGroupIdentity(Host& host) {
  if (WhyNoFile(host, CgroupFile::kCpuBvt).empty() ||
      host.proc().Exists("sys/kernel/sched_group_identity_enabled")) {
    return "";
  }
  return "the kernel has no cpu.bvt_warp_ns (Anolis has)";
}

std::string WhyNoCoreScheduling(Host& host) {
  if (host.proc().Exists("sys/kernel/sched_core") || host.kernel().HasCoreScheduling()) return "";
  return "the kernel answers no core cookies (needs 5.14, CONFIG_SCHED_CORE and SMT)";
}

std::string WhyNoPressure(Host& host) {
  if (std::string why = WhyNoFile(host, CgroupFile::kCpuPressure); !why.empty()) return why;
  const CgroupDir dir = *DirWith(host, CgroupFile::kCpuPressure);
  const auto pressure = host.cgroups().ReadPressure(CgroupFile::kCpuPressure, dir);
  if (pressure.ok()) return "";
  return fmt::format("{} (needs the boot option psi=1)", Message(pressure.status()));
}

std::string WhyNoCpi(Host& host) {
  const auto cpus = host.ReadCpuInfo();
  if (!cpus.ok()) return std::string(Message(cpus.status()));
  const std::vector<CgroupDir> dirs = DirsToLookAt(host, "perf_event");
  const auto counter = host.kernel().CountCpi(dirs.empty() ? KubepodsDir(host) : dirs.front(),
                                              {cpus->topology.processors().front().cpu});
  return counter.ok() ? "" : std::string(Message(counter.status()));
}

std::string WhyNoResctrl(Host& host) {
  const auto cpus = host.ReadCpuInfo();
  if (!cpus.ok()) return std::string(Message(cpus.status()));
  for (const std::string_view flag : {"cat_l3", "mba"}) {
    if (std::ranges::find(cpus->flags, flag) == cpus->flags.end()) {
      return fmt::format("the CPU has no {}", flag);
    }
  }
  return cpus->cat_l3_mask.empty() ? "resctrl is not mounted" : "";
}

Probe SysFile(std::string_view path) {
  return [path](Host& host) {
    return host.sys().Exists(path) ? "" : fmt::format("/sys/{} is missing", path);
  };
}

std::string WhyNoColdMemory(Host& host) {
  for (const char* file : {"scan_period_in_seconds", "use_hierarchy"}) {
    const std::string path = fmt::format("kernel/mm/kidled/{}", file);
    if (!host.sys().Exists(path)) return fmt::format("/sys/{} is missing", path);
  }
  return WhyNoFile(host, CgroupFile::kMemoryIdlePageStats);
}

std::string WhyNoNri(Host& host) {
  return host.var_run().Exists("nri/nri.sock") ? "" : "the runtime has no nri/nri.sock";
}

std::string WhyNoGpu(Host& host) {
  return host.proc().Exists("driver/nvidia/version") ? "" : "no NVIDIA driver is loaded";
}

std::string WhyNoRdma(Host& host) {
  const auto devices = host.sys().List("class/infiniband");
  return devices.ok() && !devices->empty() ? "" : "no RDMA device";
}

struct FeatureRow {
  std::string_view name;
  std::string_view meaning;
  std::string_view without;
  Probe probe;
};

std::vector<FeatureRow> FeatureRows() {
  using enum CgroupFile;
  return {
      {"cpu-suppress", "suppression of batch CPU", "batch pods are not suppressed", WhyNoSuppress},
      {"cpu-burst", "static CPU burst", "only quotas are scaled", AllOf({kCpuBurst})},
      {"cpu-idle", "idle scheduling of batch pods", "skipped", AllOf({kCpuIdle})},
      {"group-identity", "CPU priority by group identity", "skipped; use coreSched instead",
       WhyNoGroupIdentity},
      {"core-scheduling", "core scheduling", "skipped", WhyNoCoreScheduling},
      {"memory-protection", "memory.min, low and high", "skipped",
       AllOf({kMemoryMin, kMemoryLow, kMemoryHigh})},
      {"memory-watermarks", "asynchronous memory reclaim", "skipped",
       AllOf({kMemoryWmarkRatio, kMemoryWmarkScaleFactor, kMemoryWmarkMinAdj})},
      {"oom-priority", "order of victims when memory is short", "skipped",
       AllOf({kMemoryPriority, kMemoryUsePriorityOom})},
      {"page-cache-limit", "limit of page cache", "skipped", AllOf({kPageCacheLimitEnable})},
      {"memcg-reaper", "reclaim of dead cgroups", "skipped", SysFile("kernel/mm/memcg_reaper")},
      {"cold-memory", "measuring of cold memory", "the collector is off", WhyNoColdMemory},
      {"pressure", "pressure stall information", "the collector is off", WhyNoPressure},
      {"cpi", "cycles per instruction", "the collector is off", WhyNoCpi},
      {"resctrl", "cache and memory bandwidth of classes", "the strategy rests", WhyNoResctrl},
      {"block-throttle", "limits of disk I/O", "skipped", AllOf({kBlkioReadIops})},
      {"block-cost", "weights of disk I/O", "skipped", AllOf({kBlkioCostWeight, kBlkioCostQos})},
      {"net-class", "network classes of pods", "pods are told apart by their addresses",
       AllOf({kNetClassId})},
      {"nri", "hooks in the container runtime", "values are set by the reconciler only", WhyNoNri},
      {"gpu", "GPUs", "none are reported", WhyNoGpu},
      {"rdma", "RDMA devices", "none are reported", WhyNoRdma},
  };
}

}  // namespace

std::vector<Feature> DetectFeatures(Host& host) {
  std::vector<Feature> features;
  for (const FeatureRow& row : FeatureRows()) {
    std::string why_not = row.probe(host);
    const bool available = why_not.empty();
    features.push_back({row.name, row.meaning, available, std::move(why_not), row.without});
  }
  return features;
}

std::string PrintFeatures(const std::vector<Feature>& features) {
  size_t name_width = 0;
  size_t meaning_width = 0;
  for (const Feature& feature : features) {
    name_width = std::max(name_width, feature.name.size());
    meaning_width = std::max(meaning_width, feature.meaning.size());
  }
  std::string table =
      fmt::format("{:<{}}  {:<{}}  AVAILABLE\n", "FEATURE", name_width, "WHAT", meaning_width);
  for (const Feature& feature : features) {
    table += fmt::format(
        "{:<{}}  {:<{}}  {}\n", feature.name, name_width, feature.meaning, meaning_width,
        feature.available ? std::string("yes")
                          : fmt::format("no: {} ({})", feature.why_not, feature.without));
  }
  return table;
}

}  // namespace koord::koordlet
