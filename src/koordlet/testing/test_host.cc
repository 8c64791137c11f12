#include "koordlet/testing/test_host.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "base/strings.h"
#include "koordlet/host/kernel_text.h"
#include "koordlet/simulated_kernel/kernel_counters.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kIntelFlags =
    "fpu sse sse2 avx2 cat_l3 mba cqm_llc cqm_occup_llc cqm_mbm_total cqm_mbm_local";
constexpr std::string_view kPlainFlags = "fpu sse sse2 avx2";

MemoryMachine::Options MachineOf(const TestHost::Options& options) {
  const bool amd = options.resctrl == ResctrlFlavour::kAmd;
  MemoryMachine::Options machine;
  machine.layout = {options.version, options.driver};
  machine.processors =
      options.processors.empty() ? ProcessorsOf(options.shape) : options.processors;
  machine.memory = options.memory;
  machine.anolis = options.anolis;
  if (amd) {
    machine.vendor = "AuthenticAMD";
    machine.model = "AMD EPYC 7713 64-Core Processor";
  }
  machine.cpu_flags = options.resctrl == ResctrlFlavour::kNone ? kPlainFlags : kIntelFlags;
  return machine;
}

std::string_view ParentOf(std::string_view dir) {
  const size_t slash = dir.rfind('/');
  return slash == dir.npos ? std::string_view() : dir.substr(0, slash);
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

}  // namespace

TestHost::TestHost(const Options& options)
    : MemoryMachine(MachineOf(options), std::make_unique<FakeKernel>()),
      kernel_(static_cast<FakeKernel*>(&host().kernel())) {
  std::set<int32_t> caches;
  for (const Processor& processor : processors()) {
    caches.insert(processor.l3);
    cpu_nanos_[processor.cpu] = 0;
  }
  resctrl_kernel_ = std::make_unique<ResctrlKernel>(
      resctrl(), options.resctrl, std::vector<int32_t>(caches.begin(), caches.end()));
  PublishProcStat();
  PublishMemInfo();
}

void TestHost::RemovePod(const kube::Pod& pod) {
  const CgroupDir dir = PodDir(pod);
  MemoryMachine::RemovePod(pod);
  std::erase_if(usage_, [&](const auto& entry) { return entry.first.starts_with(dir.path()); });
}

void TestHost::ForEachAbove(std::string_view dir,
                            const std::function<void(const std::string&)>& visit) {
  for (; !dir.empty(); dir = ParentOf(dir)) visit(std::string(dir));
  visit("");
}

void TestHost::UseCpu(std::string_view dir, Duration time, std::optional<int32_t> cpu) {
  cgroup_kernel().AddDirectory(dir);
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
  if (layout().version == CgroupVersion::kV1) {
    Set(CgroupFile::kCpuUsage, dir, std::to_string(usage.cpu_nanos));
  }
  Set(CgroupFile::kCpuStat, dir, CpuStatText(layout().version, usage.cpu_nanos, usage.stat));
}

void TestHost::PublishProcStat() {
  std::vector<ProcessorTime> times;
  for (const auto& [cpu, nanos] : cpu_nanos_) times.push_back({cpu, nanos});
  proc().Set("stat", ProcStatText(usage_[""].cpu_nanos, times, kernel_->tick.count()));
}

void TestHost::SetMemory(std::string_view dir, const MemoryStat& memory) {
  cgroup_kernel().AddDirectory(dir);
  const MemoryStat less = usage_[std::string(dir)].memory - memory;
  ForEachAbove(dir, [&](const std::string& above) {
    usage_[above].memory = usage_[above].memory - less;
    PublishMemory(above);
  });
  PublishMemInfo();
}

void TestHost::PublishMemory(const std::string& dir) {
  const MemoryStat& memory = usage_[dir].memory;
  Set(CgroupFile::kMemoryUsage, dir, std::to_string(MemoryUsageOf(memory)));
  Set(CgroupFile::kMemoryStat, dir, MemoryStatText(layout().version, memory));
  Set(CgroupFile::kMemoryNumaStat, dir,
      NumaStatText(layout().version, memory, numa_nodes(), kernel_->page));
}

void TestHost::PublishMemInfo() {
  const MemoryStat& used = usage_[""].memory;
  proc().Set("meminfo", MemInfoText("", memory(), used));
  std::set<int32_t> nodes;
  for (const Processor& p : processors()) nodes.insert(p.node);
  for (const int32_t node : nodes) {
    sys().Set(fmt::format("devices/system/node/node{}/meminfo", node),
              MemInfoText(fmt::format("Node {} ", node), memory() / numa_nodes(),
                          ShareOf(used, numa_nodes())));
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
    proc().Set(fmt::format("{}/oom_score_adj", pid), "0\n");
  }
  Set(CgroupFile::kProcesses, dir, text);
  Set(CgroupFile::kThreads, dir, text);
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
