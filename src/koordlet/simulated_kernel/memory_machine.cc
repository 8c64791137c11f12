#include "koordlet/simulated_kernel/memory_machine.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/cpu_set.h"
#include "base/strings.h"
#include "kube/objects/pod_resources.h"

namespace koord::koordlet {
namespace {

using kube::PodQos;

MilliCpu CpuOf(const kube::ResourceList& list) {
  return MilliCpu(kube::AmountOf(list, kube::kCpu).MilliValue());
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

MemoryMachine::MemoryMachine(std::shared_ptr<const Options> options, const MemoryMachine* model,
                             std::unique_ptr<Kernel> kernel)
    : options_(std::move(options)) {
  Host::Trees trees;
  const auto make = [model](std::unique_ptr<FileTree>& tree, MemoryTree* MemoryMachine::*member) {
    auto memory = model == nullptr ? std::make_unique<MemoryTree>()
                                   : std::make_unique<MemoryTree>(*(model->*member));
    MemoryTree* const raw = memory.get();
    tree = std::move(memory);
    return raw;
  };
  cgroup_ = make(trees.cgroup, &MemoryMachine::cgroup_);
  proc_ = make(trees.proc, &MemoryMachine::proc_);
  sys_ = make(trees.sys, &MemoryMachine::sys_);
  resctrl_ = make(trees.resctrl, &MemoryMachine::resctrl_);
  kubelet_ = make(trees.kubelet, &MemoryMachine::kubelet_);
  var_run_ = make(trees.var_run, &MemoryMachine::var_run_);
  host_ = std::make_unique<Host>(std::move(trees), std::move(kernel), options_->layout);

  CpuSet cpus;
  std::set<int32_t> nodes;
  for (const Processor& processor : options_->processors) {
    cpus.Add(processor.cpu);
    nodes.insert(processor.node);
  }
  numa_nodes_ = static_cast<int>(nodes.size());
  cgroup_kernel_ =
      std::make_unique<CgroupKernel>(*cgroup_, CgroupKernel::Options{.layout = options_->layout,
                                                                     .anolis = options_->anolis,
                                                                     .cpus = std::move(cpus),
                                                                     .numa_nodes = numa_nodes_});
}

MemoryMachine::MemoryMachine(const MemoryMachine& model, std::unique_ptr<Kernel> kernel)
    : MemoryMachine(model.options_, &model, std::move(kernel)) {}

MemoryMachine::MemoryMachine(Options options, std::unique_ptr<Kernel> kernel)
    : MemoryMachine(std::make_shared<const Options>(std::move(options)), nullptr,
                    std::move(kernel)) {
  FillSys();
  FillCpuInfo();
  for (const PodQos qos : {PodQos::kGuaranteed, PodQos::kBurstable, PodQos::kBestEffort}) {
    cgroup_kernel_->AddDirectory(options_->layout.QosDir(qos));
    SetResources(options_->layout.QosDir(qos), {}, {});
  }
  const auto capacity = kube::Quantity(static_cast<int64_t>(options_->processors.size()));
  SetResources(options_->layout.QosDir(PodQos::kGuaranteed), {{std::string(kube::kCpu), capacity}},
               {{std::string(kube::kMemory), kube::Quantity(options_->memory)}});
}

void MemoryMachine::FillSys() {
  const std::string cpu_dir = "devices/system/cpu";
  std::map<int32_t, CpuSet> node_cpus;
  std::map<int32_t, CpuSet> core_cpus;
  std::map<int32_t, CpuSet> cache_cpus;
  CpuSet all;
  auto by_cpu = options_->processors;
  std::ranges::sort(by_cpu, {}, &Processor::cpu);
  for (const Processor& p : by_cpu) {
    all.Add(p.cpu);
    node_cpus[p.node].Add(p.cpu);
    core_cpus[p.core].Add(p.cpu);
    cache_cpus[p.l3].Add(p.cpu);
  }
  for (const Processor& p : by_cpu) {
    const std::string dir = fmt::format("{}/cpu{}", cpu_dir, p.cpu);
    const auto set = [&](std::string_view name, const std::string& text) {
      sys_->Set(fmt::format("{}/{}", dir, name), text + "\n");
    };
    set("topology/core_id", std::to_string(p.core));
    set("topology/physical_package_id", std::to_string(p.socket));
    set("topology/thread_siblings_list", core_cpus[p.core].ToString());
    for (const int level : {1, 2, 3}) {
      set(fmt::format("cache/index{}/level", level), std::to_string(level));
      set(fmt::format("cache/index{}/id", level), std::to_string(level == 3 ? p.l3 : p.core));
      set(fmt::format("cache/index{}/shared_cpu_list", level),
          (level == 3 ? cache_cpus[p.l3] : core_cpus[p.core]).ToString());
    }
  }
  sys_->Set(cpu_dir + "/online", all.ToString() + "\n");
  sys_->Set(cpu_dir + "/smt/active", core_cpus.size() < all.size() ? "1\n" : "0\n");
  for (const auto& [node, cpus] : node_cpus) {
    sys_->Set(fmt::format("devices/system/node/node{}/cpulist", node), cpus.ToString() + "\n");
  }
}

void MemoryMachine::FillCpuInfo() {
  CpuSet cpus;
  for (const Processor& p : options_->processors) cpus.Add(p.cpu);
  std::string text;
  for (const int32_t cpu : cpus) {
    text += fmt::format("processor\t: {}\nvendor_id\t: {}\nmodel name\t: {}\nflags\t\t: {}\n\n",
                        cpu, options_->vendor, options_->model, options_->cpu_flags);
  }
  proc_->Set("cpuinfo", text);
}

CgroupDir MemoryMachine::PodDir(const kube::Pod& pod) const {
  return host_->cgroups().layout().PodDir(kube::PodQosOf(pod), pod.metadata.uid);
}

CgroupDir MemoryMachine::SandboxDir(const kube::Pod& pod) const {
  const std::string id = fmt::format("containerd://sandbox-{}", pod.metadata.uid);
  return host_->cgroups().layout().ContainerDir(PodDir(pod), id).value();
}

CgroupDir MemoryMachine::ContainerDir(const kube::Pod& pod, std::string_view container) const {
  for (const auto* statuses :
       {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    const auto it = std::ranges::find(*statuses, container, &kube::ContainerStatus::name);
    if (it == statuses->end() || it->container_id.empty()) continue;
    return host_->cgroups()
        .layout()
        .ContainerDir(PodDir(pod), it->container_id)
        .value_or(CgroupDir());
  }
  return {};
}

void MemoryMachine::AddPod(const kube::Pod& pod) {
  const CgroupDir pod_dir = PodDir(pod);
  const kube::ResourceList requests = kube::PodRequests(pod);
  cgroup_kernel_->AddDirectory(pod_dir);
  if (kube::PodQosOf(pod) == PodQos::kBurstable) {
    burstable_[pod_dir.path()] = CpuOf(requests);
    SetBurstableShares();
  }
  SetResources(pod_dir, requests, DeclaredLimits(pod));
  cgroup_kernel_->AddDirectory(SandboxDir(pod));
  SetResources(SandboxDir(pod), {}, {});
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const kube::Container& container : *containers) {
      const CgroupDir dir = ContainerDir(pod, container.name);
      if (dir.is_root()) continue;
      cgroup_kernel_->AddDirectory(dir);
      kube::ResourceList asked = container.resources.limits;  // where no request is stated
      for (const auto& [name, amount] : container.resources.requests) asked[name] = amount;
      SetResources(dir, asked, container.resources.limits);
    }
  }
}

void MemoryMachine::RemovePod(const kube::Pod& pod) {
  const CgroupDir dir = PodDir(pod);
  cgroup_kernel_->RemoveDirectory(dir);
  if (burstable_.erase(dir.path()) > 0) SetBurstableShares();
}

void MemoryMachine::SetBurstableShares() {
  MilliCpu sum;
  for (const auto& [dir, requested] : burstable_) sum += requested;
  const CgroupDir dir = host_->cgroups().layout().QosDir(PodQos::kBurstable);
  SetResources(dir, {{std::string(kube::kCpu), kube::Quantity::FromMilli(sum.value())}}, {});
}

void MemoryMachine::SetResources(std::string_view dir, const kube::ResourceList& requests,
                                 const kube::ResourceList& limits) {
  const bool v1 = options_->layout.version == CgroupVersion::kV1;
  const int64_t shares = SharesOf(CpuOf(requests));
  Set(CgroupFile::kCpuShares, dir, std::to_string(v1 ? shares : WeightOfShares(shares)));
  const Limit quota = QuotaOf(CpuOf(limits));
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
