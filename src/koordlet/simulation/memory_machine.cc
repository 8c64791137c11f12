#include "koordlet/simulation/memory_machine.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/cpu_list.h"
#include "base/strings.h"
#include "kube/objects/pod_resources.h"

namespace koord::koordlet {
namespace {

using kube::PodQos;

int64_t MilliCpu(const kube::ResourceList& list) {
  return kube::AmountOf(list, kube::kCpu).MilliValue();
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

MemoryMachine::MemoryMachine(Options options, std::unique_ptr<Kernel> kernel)
    : options_(std::move(options)) {
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
  host_ = std::make_unique<Host>(std::move(trees), std::move(kernel), options_.layout);

  std::set<int32_t> cpus;
  std::set<int32_t> nodes;
  for (const Processor& processor : options_.processors) {
    cpus.insert(processor.cpu);
    nodes.insert(processor.node);
  }
  numa_nodes_ = static_cast<int>(nodes.size());
  cgroup_kernel_ = std::make_unique<CgroupKernel>(
      *cgroup_, CgroupKernel::Options{.layout = options_.layout,
                                      .anolis = options_.anolis,
                                      .cpus = {cpus.begin(), cpus.end()},
                                      .numa_nodes = numa_nodes_});
  FillSys();
  FillCpuInfo();
  for (const PodQos qos : {PodQos::kGuaranteed, PodQos::kBurstable, PodQos::kBestEffort}) {
    cgroup_kernel_->AddDirectory(options_.layout.QosDir(qos));
    SetResources(options_.layout.QosDir(qos), {}, {});
  }
  const auto capacity = kube::Quantity(static_cast<int64_t>(cpus.size()));
  SetResources(options_.layout.QosDir(PodQos::kGuaranteed), {{std::string(kube::kCpu), capacity}},
               {{std::string(kube::kMemory), kube::Quantity(options_.memory)}});
}

void MemoryMachine::FillSys() {
  const std::string cpu_dir = "devices/system/cpu";
  std::map<int32_t, std::vector<int32_t>> node_cpus;
  std::map<int32_t, std::vector<int32_t>> core_cpus;
  std::map<int32_t, std::vector<int32_t>> cache_cpus;
  std::vector<int32_t> all;
  auto by_cpu = options_.processors;
  std::ranges::sort(by_cpu, {}, &Processor::cpu);
  for (const Processor& p : by_cpu) {
    all.push_back(p.cpu);
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

void MemoryMachine::FillCpuInfo() {
  std::vector<int32_t> cpus;
  for (const Processor& p : options_.processors) cpus.push_back(p.cpu);
  std::ranges::sort(cpus);
  std::string text;
  for (const int32_t cpu : cpus) {
    text += fmt::format("processor\t: {}\nvendor_id\t: {}\nmodel name\t: {}\nflags\t\t: {}\n\n",
                        cpu, options_.vendor, options_.model, options_.cpu_flags);
  }
  proc_->Set("cpuinfo", text);
}

std::string MemoryMachine::PodDir(const kube::Pod& pod) const {
  return host_->cgroups().layout().PodDir(kube::PodQosOf(pod), pod.metadata.uid);
}

std::string MemoryMachine::SandboxDir(const kube::Pod& pod) const {
  const std::string id = fmt::format("containerd://sandbox-{}", pod.metadata.uid);
  return host_->cgroups().layout().ContainerDir(PodDir(pod), id).value();
}

std::string MemoryMachine::ContainerDir(const kube::Pod& pod, std::string_view container) const {
  for (const auto* statuses :
       {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    const auto it = std::ranges::find(*statuses, container, &kube::ContainerStatus::name);
    if (it == statuses->end() || it->container_id.empty()) continue;
    return host_->cgroups().layout().ContainerDir(PodDir(pod), it->container_id).value_or("");
  }
  return "";
}

void MemoryMachine::AddPod(const kube::Pod& pod) {
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

void MemoryMachine::RemovePod(const kube::Pod& pod) {
  const std::string dir = PodDir(pod);
  cgroup_kernel_->RemoveDirectory(dir);
  if (burstable_.erase(dir) > 0) SetBurstableShares();
}

void MemoryMachine::SetBurstableShares() {
  int64_t milli = 0;
  for (const auto& [dir, requested] : burstable_) milli += requested;
  const std::string dir = host_->cgroups().layout().QosDir(PodQos::kBurstable);
  SetResources(dir, {{std::string(kube::kCpu), kube::Quantity::FromMilli(milli)}}, {});
}

void MemoryMachine::SetResources(std::string_view dir, const kube::ResourceList& requests,
                                 const kube::ResourceList& limits) {
  const bool v1 = options_.layout.version == CgroupVersion::kV1;
  const int64_t shares = SharesOfMilli(MilliCpu(requests));
  Set(CgroupFile::kCpuShares, dir, std::to_string(v1 ? shares : WeightOfShares(shares)));
  const Limit quota = QuotaOfMilli(MilliCpu(limits));
  if (!quota.unlimited()) {
    Set(CgroupFile::kCpuQuota, dir, fmt::format("{}{}", quota.value(), v1 ? "" : " 100000"));
  }
  const int64_t page = host_->kernel().page_size();
  if (const int64_t memory = kube::AmountOf(limits, kube::kMemory).Value(); memory > 0) {
    Set(CgroupFile::kMemoryLimit, dir, std::to_string(memory / page * page));
  }
}

std::string MemoryMachine::Get(CgroupFile file, std::string_view dir) const {
  return cgroup_kernel_->Get(file, dir);
}

void MemoryMachine::Set(CgroupFile file, std::string_view dir, std::string_view text) {
  cgroup_kernel_->Set(file, dir, text);
}

const MemoryTree* MemoryMachine::FindTree(std::string_view name) const {
  for (const auto& [known, tree] :
       {std::pair("cgroup", cgroup_), std::pair("proc", proc_), std::pair("sys", sys_),
        std::pair("resctrl", resctrl_), std::pair("kubelet", kubelet_),
        std::pair("var_run", var_run_)}) {
    if (name == known) return tree;
  }
  return nullptr;
}

}  // namespace koord::koordlet
