#include "koordlet/testing/test_host.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "base/cpu_list.h"
#include "base/strings.h"
#include "koordlet/host/kernel_text.h"
#include "kube/objects/pod_resources.h"

namespace koord::koordlet {
namespace {

using kube::PodQos;

constexpr std::string_view kIntelFlags =
    "fpu sse sse2 avx2 cat_l3 mba cqm_llc cqm_occup_llc cqm_mbm_total cqm_mbm_local";
constexpr std::string_view kPlainFlags = "fpu sse sse2 avx2";
constexpr int64_t kMicro = 1000;

int64_t MilliCpu(const kube::ResourceList& list) {
  return kube::AmountOf(list, kube::kCpu).MilliValue();
}

std::string_view ParentOf(std::string_view dir) {
  const size_t slash = dir.rfind('/');
  return slash == dir.npos ? std::string_view() : dir.substr(0, slash);
}

// Limits of a pod count only if every container has one.
kube::ResourceList DeclaredLimits(const kube::Pod& pod) {
  kube::ResourceList limits = kube::PodLimits(pod);
  for (const kube::Container& container : pod.spec.containers) {
    std::erase_if(limits, [&](const auto& limit) {
      return !container.resources.limits.contains(limit.first);
    });
  }
  return limits;
}

template <class Visit>
void ForEachFile(const MemoryTree& tree, const std::string& dir, const Visit& visit) {
  const std::vector<FileTree::Entry> entries = tree.List(dir).value();
  for (const FileTree::Entry& entry : entries) {
    const std::string path = dir.empty() ? entry.name : fmt::format("{}/{}", dir, entry.name);
    if (entry.is_directory) {
      ForEachFile(tree, path, visit);
    } else {
      visit(path, tree.Read(path).value());
    }
  }
}

MemoryStat operator-(MemoryStat a, const MemoryStat& b) {
  a.cache -= b.cache;
  a.rss -= b.rss;
  a.inactive_file -= b.inactive_file;
  a.active_file -= b.active_file;
  a.inactive_anon -= b.inactive_anon;
  a.active_anon -= b.active_anon;
  a.unevictable -= b.unevictable;
  return a;
}

int64_t InUse(const MemoryStat& memory) {
  return memory.inactive_anon + memory.active_anon + memory.unevictable;
}
int64_t PageCache(const MemoryStat& memory) { return memory.inactive_file + memory.active_file; }

}  // namespace

std::vector<Processor> ProcessorsOf(const MachineShape& shape) {
  std::vector<Processor> processors;
  for (int core = 0; core < shape.cores; ++core) {
    for (int thread = 0; thread < shape.threads; ++thread) {
      const int cpu =
          shape.adjacent_threads ? core * shape.threads + thread : core + thread * shape.cores;
      const int socket = core * shape.sockets / shape.cores;
      processors.push_back({.cpu = cpu,
                            .core = core,
                            .socket = socket,
                            .node = core * shape.nodes / shape.cores,
                            .l3 = socket});
    }
  }
  std::ranges::sort(processors, {},
                    [](const Processor& p) { return std::tuple(p.node, p.socket, p.core, p.cpu); });
  return processors;
}

TestHost::TestHost(Options options) : options_(std::move(options)) {
  if (options_.processors.empty()) options_.processors = ProcessorsOf(options_.shape);
  Host::Trees trees;
  const auto make = [](std::unique_ptr<FileTree>& tree) {
    auto memory = std::make_unique<MemoryTree>();
    MemoryTree* const raw = memory.get();
    tree = std::move(memory);
    return raw;
  };
  cgroup_ = make(trees.cgroup);
  proc_ = make(trees.proc);
  sys_ = make(trees.sys);
  resctrl_ = make(trees.resctrl);
  kubelet_ = make(trees.kubelet);
  var_run_ = make(trees.var_run);
  auto kernel = std::make_unique<FakeKernel>();
  kernel_ = kernel.get();
  const CgroupLayout layout{options_.version, options_.driver};
  host_ = std::make_unique<Host>(std::move(trees), std::move(kernel), layout);

  std::set<int32_t> cpus;
  std::set<int32_t> nodes;
  std::set<int32_t> caches;
  for (const Processor& processor : options_.processors) {
    cpus.insert(processor.cpu);
    nodes.insert(processor.node);
    caches.insert(processor.l3);
    cpu_nanos_[processor.cpu] = 0;
  }
  cgroup_kernel_ = std::make_unique<CgroupKernel>(
      *cgroup_, CgroupKernel::Options{.layout = layout,
                                      .anolis = options_.anolis,
                                      .cpus = {cpus.begin(), cpus.end()},
                                      .numa_nodes = static_cast<int>(nodes.size())});
  resctrl_kernel_ = std::make_unique<ResctrlKernel>(
      *resctrl_, options_.resctrl, std::vector<int32_t>(caches.begin(), caches.end()));
  FillSys();
  FillCpuInfo();
  PublishProcStat();
  PublishMemInfo();

  for (const PodQos qos : {PodQos::kGuaranteed, PodQos::kBurstable, PodQos::kBestEffort}) {
    cgroup_kernel_->AddDirectory(layout.QosDir(qos));
    SetResources(layout.QosDir(qos), {}, {});
  }
  const auto capacity = kube::Quantity(static_cast<int64_t>(cpus.size()));
  SetResources(layout.QosDir(PodQos::kGuaranteed), {{std::string(kube::kCpu), capacity}},
               {{std::string(kube::kMemory), kube::Quantity(options_.memory)}});
}

void TestHost::FillSys() {
  const std::string cpu_dir = "devices/system/cpu";
  std::map<int32_t, std::vector<int32_t>> node_cpus;
  std::map<int32_t, std::vector<int32_t>> core_cpus;
  std::map<int32_t, std::vector<int32_t>> cache_cpus;
  std::vector<int32_t> all;
  for (const auto& [cpu, nanos] : cpu_nanos_) all.push_back(cpu);
  auto by_cpu = options_.processors;
  std::ranges::sort(by_cpu, {}, &Processor::cpu);
  for (const Processor& p : by_cpu) {
    node_cpus[p.node].push_back(p.cpu);
    core_cpus[p.core].push_back(p.cpu);
    cache_cpus[p.l3].push_back(p.cpu);
  }
  for (const Processor& p : by_cpu) {
    const std::string dir = fmt::format("{}/cpu{}", cpu_dir, p.cpu);
    const auto set = [&](std::string_view name, const std::string& text) {
      sys_->Set(fmt::format("{}/{}", dir, name), text + "\n");
    };
    set("topology/core_id", std::to_string(p.core));
    set("topology/physical_package_id", std::to_string(p.socket));
    set("topology/thread_siblings_list", FormatCpuList(core_cpus[p.core]));
    for (const int level : {1, 2, 3}) {
      set(fmt::format("cache/index{}/level", level), std::to_string(level));
      set(fmt::format("cache/index{}/id", level), std::to_string(level == 3 ? p.l3 : p.core));
      set(fmt::format("cache/index{}/shared_cpu_list", level),
          FormatCpuList(level == 3 ? cache_cpus[p.l3] : core_cpus[p.core]));
    }
  }
  sys_->Set(cpu_dir + "/online", FormatCpuList(all) + "\n");
  sys_->Set(cpu_dir + "/smt/active", core_cpus.size() < all.size() ? "1\n" : "0\n");
  for (const auto& [node, cpus] : node_cpus) {
    sys_->Set(fmt::format("devices/system/node/node{}/cpulist", node), FormatCpuList(cpus) + "\n");
  }
}

void TestHost::FillCpuInfo() {
  const bool amd = options_.resctrl == ResctrlFlavour::kAmd;
  std::string text;
  for (const auto& [cpu, nanos] : cpu_nanos_) {
    text += fmt::format(
        "processor\t: {}\nvendor_id\t: {}\nmodel name\t: {}\nflags\t\t: {}\n\n", cpu,
        amd ? "AuthenticAMD" : "GenuineIntel",
        amd ? "AMD EPYC 7713 64-Core Processor" : "Intel(R) Xeon(R) Platinum 8369B CPU @ 2.70GHz",
        options_.resctrl == ResctrlFlavour::kNone ? kPlainFlags : kIntelFlags);
  }
  proc_->Set("cpuinfo", text);
}

std::string TestHost::PodDir(const kube::Pod& pod) const {
  return host_->cgroups().layout().PodDir(kube::PodQosOf(pod), pod.metadata.uid);
}

std::string TestHost::SandboxDir(const kube::Pod& pod) const {
  const std::string id = fmt::format("containerd://sandbox-{}", pod.metadata.uid);
  return host_->cgroups().layout().ContainerDir(PodDir(pod), id).value();
}

std::string TestHost::ContainerDir(const kube::Pod& pod, std::string_view container) const {
  for (const auto* statuses :
       {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    const auto it = std::ranges::find(*statuses, container, &kube::ContainerStatus::name);
    if (it == statuses->end() || it->container_id.empty()) continue;
    return host_->cgroups().layout().ContainerDir(PodDir(pod), it->container_id).value_or("");
  }
  return "";
}

void TestHost::AddPod(const kube::Pod& pod) {
  const std::string pod_dir = PodDir(pod);
  const kube::ResourceList requests = kube::PodRequests(pod);
  cgroup_kernel_->AddDirectory(pod_dir);
  if (kube::PodQosOf(pod) == PodQos::kBurstable) {
    burstable_[pod_dir] = MilliCpu(requests);
    SetBurstableShares();
  }
  SetResources(pod_dir, requests, DeclaredLimits(pod));
  cgroup_kernel_->AddDirectory(SandboxDir(pod));
  SetResources(SandboxDir(pod), {}, {});
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const kube::Container& container : *containers) {
      const std::string dir = ContainerDir(pod, container.name);
      if (dir.empty()) continue;
      cgroup_kernel_->AddDirectory(dir);
      kube::ResourceList asked = container.resources.limits;  // where no request is stated
      for (const auto& [name, amount] : container.resources.requests) asked[name] = amount;
      SetResources(dir, asked, container.resources.limits);
    }
  }
}

void TestHost::RemovePod(const kube::Pod& pod) {
  const std::string dir = PodDir(pod);
  cgroup_kernel_->RemoveDirectory(dir);
  std::erase_if(usage_, [&](const auto& entry) { return entry.first.starts_with(dir); });
  if (burstable_.erase(dir) > 0) SetBurstableShares();
}

void TestHost::SetBurstableShares() {
  int64_t milli = 0;
  for (const auto& [dir, requested] : burstable_) milli += requested;
  const std::string dir = host_->cgroups().layout().QosDir(PodQos::kBurstable);
  SetResources(dir, {{std::string(kube::kCpu), kube::Quantity::FromMilli(milli)}}, {});
}

void TestHost::SetResources(std::string_view dir, const kube::ResourceList& requests,
                            const kube::ResourceList& limits) {
  const bool v1 = options_.version == CgroupVersion::kV1;
  const int64_t shares = SharesOfMilli(MilliCpu(requests));
  Set(CgroupFile::kCpuShares, dir, std::to_string(v1 ? shares : WeightOfShares(shares)));
  const Limit quota = QuotaOfMilli(MilliCpu(limits));
  if (!quota.unlimited()) {
    Set(CgroupFile::kCpuQuota, dir, fmt::format("{}{}", quota.value(), v1 ? "" : " 100000"));
  }
  if (const int64_t memory = kube::AmountOf(limits, kube::kMemory).Value(); memory > 0) {
    Set(CgroupFile::kMemoryLimit, dir, std::to_string(memory / kernel_->page * kernel_->page));
  }
}

std::string TestHost::Get(CgroupFile file, std::string_view dir) const {
  return cgroup_kernel_->Get(file, dir);
}

void TestHost::Set(CgroupFile file, std::string_view dir, std::string_view text) {
  cgroup_kernel_->Set(file, dir, text);
}

void TestHost::ForEachAbove(std::string_view dir,
                            const std::function<void(const std::string&)>& visit) {
  for (; !dir.empty(); dir = ParentOf(dir)) visit(std::string(dir));
  visit("");
}

void TestHost::UseCpu(std::string_view dir, Duration time, std::optional<int32_t> cpu) {
  cgroup_kernel_->AddDirectory(dir);
  ForEachAbove(dir, [&](const std::string& above) {
    usage_[above].cpu_nanos += time.count();
    PublishCpu(above);
  });
  if (cpu) {
    cpu_nanos_[*cpu] += time.count();
  } else {
    for (auto& [id, nanos] : cpu_nanos_) {
      nanos += time.count() / static_cast<int64_t>(cpu_nanos_.size());
    }
  }
  PublishProcStat();
}

void TestHost::Throttle(std::string_view dir, int64_t periods, int64_t throttled) {
  const std::string name(dir);
  usage_[name].stat.periods += periods;
  usage_[name].stat.throttled += throttled;
  PublishCpu(name);
}

void TestHost::PublishCpu(const std::string& dir) {
  const Usage& usage = usage_[dir];
  const bool v1 = options_.version == CgroupVersion::kV1;
  if (v1) Set(CgroupFile::kCpuUsage, dir, std::to_string(usage.cpu_nanos));
  Set(CgroupFile::kCpuStat, dir,
      fmt::format("{}nr_periods {}\nnr_throttled {}\nthrottled_{} {}",
                  v1 ? "" : fmt::format("usage_usec {}\n", usage.cpu_nanos / kMicro),
                  usage.stat.periods, usage.stat.throttled, v1 ? "time" : "usec",
                  usage.stat.throttled * kMicro));
}

void TestHost::PublishProcStat() {
  const auto line = [this](std::string_view name, int64_t nanos) {
    return fmt::format("{} {} 0 0 0 0 0 0 0 0 0\n", name, nanos / kernel_->tick.count());
  };
  std::string lines = line("cpu ", usage_[""].cpu_nanos);
  for (const auto& [cpu, nanos] : cpu_nanos_) lines += line(fmt::format("cpu{}", cpu), nanos);
  proc_->Set("stat", lines + "ctxt 0\nbtime 0\nprocesses 1\n");
}

void TestHost::SetMemory(std::string_view dir, const MemoryStat& memory) {
  cgroup_kernel_->AddDirectory(dir);
  const MemoryStat less = usage_[std::string(dir)].memory - memory;
  ForEachAbove(dir, [&](const std::string& above) {
    usage_[above].memory = usage_[above].memory - less;
    PublishMemory(above);
  });
  PublishMemInfo();
}

void TestHost::PublishMemory(const std::string& dir) {
  const MemoryStat& m = usage_[dir].memory;
  const bool v1 = options_.version == CgroupVersion::kV1;
  const std::string_view total = v1 ? "total_" : "";
  Set(CgroupFile::kMemoryUsage, dir, std::to_string(InUse(m) + PageCache(m)));
  Set(CgroupFile::kMemoryStat, dir,
      fmt::format("{0}{1} {2}\n{0}{3} {4}\n{0}inactive_anon {5}\n{0}active_anon {6}\n"
                  "{0}inactive_file {7}\n{0}active_file {8}\n{0}unevictable {9}",
                  total, v1 ? "cache" : "file", m.cache, v1 ? "rss" : "anon", m.rss,
                  m.inactive_anon, m.active_anon, m.inactive_file, m.active_file, m.unevictable));
  const auto nodes = static_cast<int64_t>(host_->ReadCpuInfo()->node_count());
  std::string anon;
  std::string file;
  for (int64_t node = 0; node < nodes; ++node) {
    anon += fmt::format(" N{}={}", node, InUse(m) / nodes / (v1 ? kernel_->page : 1));
    file += fmt::format(" N{}={}", node, PageCache(m) / nodes / (v1 ? kernel_->page : 1));
  }
  Set(CgroupFile::kMemoryNumaStat, dir,
      v1 ? fmt::format("total={}{}", InUse(m) / kernel_->page, anon)
         : fmt::format("anon{}\nfile{}", anon, file));
}

void TestHost::PublishMemInfo() {
  const MemoryStat& memory = usage_[""].memory;
  std::set<int32_t> nodes;
  for (const Processor& p : options_.processors) nodes.insert(p.node);
  const auto text = [&](std::string_view prefix, int64_t share) {
    const int64_t total = options_.memory / 1024 / share;
    const int64_t used = InUse(memory) / 1024 / share;
    const int64_t active = memory.active_file / 1024 / share;
    const int64_t inactive = memory.inactive_file / 1024 / share;
    std::string lines;
    for (const auto& [name, amount] :
         {std::pair("MemTotal", total), std::pair("MemFree", total - used - active - inactive),
          std::pair("MemAvailable", total - used), std::pair("Active(file)", active),
          std::pair("Inactive(file)", inactive), std::pair("SReclaimable", int64_t{0})}) {
      lines += fmt::format("{}{}: {:>12} kB\n", prefix, name, amount);
    }
    return lines;
  };
  proc_->Set("meminfo", text("", 1));
  for (const int32_t node : nodes) {
    sys_->Set(fmt::format("devices/system/node/node{}/meminfo", node),
              text(fmt::format("Node {} ", node), static_cast<int64_t>(nodes.size())));
  }
}

void TestHost::SetPressure(CgroupFile file, std::string_view dir, const Pressure& pressure) {
  const auto line = [](std::string_view name, const Pressure::Averages& averages) {
    return fmt::format("{} avg10={:.2f} avg60={:.2f} avg300={:.2f} total=0", name, averages.avg10,
                       averages.avg60, averages.avg300);
  };
  std::string text = line("some", pressure.some);
  if (pressure.full) text += "\n" + line("full", *pressure.full);
  Set(file, dir, text);
}

void TestHost::SetProcesses(std::string_view dir, std::span<const int32_t> pids) {
  std::string text;
  for (const int32_t pid : pids) {
    text += fmt::format("{}{}", text.empty() ? "" : "\n", pid);
    kernel_->cookies.try_emplace(pid, 0);
    proc_->Set(fmt::format("{}/oom_score_adj", pid), "0\n");
  }
  Set(CgroupFile::kProcesses, dir, text);
  Set(CgroupFile::kThreads, dir, text);
}

const MemoryTree* TestHost::FindTree(std::string_view name) const {
  for (const auto& [known, tree] :
       {std::pair("cgroup", cgroup_), std::pair("proc", proc_), std::pair("sys", sys_),
        std::pair("resctrl", resctrl_), std::pair("kubelet", kubelet_),
        std::pair("var_run", var_run_)}) {
    if (name == known) return tree;
  }
  return nullptr;
}

std::string TestHost::Dump(std::string_view tree) const {
  std::string dump;
  const MemoryTree* const files = FindTree(tree);
  if (files == nullptr) return fmt::format("no tree {}\n", tree);
  ForEachFile(*files, "", [&dump](const std::string& path, const std::string& text) {
    std::string_view left = Trim(text);
    if (left.find('\n') == left.npos) {
      dump += left.empty() ? fmt::format("{}:\n", path) : fmt::format("{}: {}\n", path, left);
      return;
    }
    dump += path + ":\n";
    while (!left.empty()) dump += fmt::format("  {}\n", TakeLine(left));
  });
  return dump;
}

Status TestHost::WriteTo(const std::string& directory) const {
  for (const auto& [name, place] :
       {std::pair("cgroup", "sys/fs/cgroup"), std::pair("proc", "proc"), std::pair("sys", "sys"),
        std::pair("resctrl", "sys/fs/resctrl"), std::pair("kubelet", "var/lib/kubelet"),
        std::pair("var_run", "var/run")}) {
    const std::filesystem::path root = std::filesystem::path(directory) / place;
    std::error_code error;
    std::filesystem::create_directories(root, error);
    ForEachFile(*FindTree(name), "", [&](const std::string& path, const std::string& text) {
      std::filesystem::create_directories((root / path).parent_path(), error);
      std::ofstream(root / path, std::ios::binary) << text;
      if (!std::filesystem::exists(root / path)) error = std::make_error_code(std::errc::io_error);
    });
    if (error) return Internal("{}: {}", root.string(), error.message());
  }
  return absl::OkStatus();
}

}  // namespace koord::koordlet
