#include "koordlet/qos/cpu_suppress/cpu_suppress.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/string_map.h"
#include "koordlet/qos/cpu_suppress/suppress_rules.h"
#include "koordlet/qos/framework/amounts.h"
#include "koordlet/qos/framework/node_inputs.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kCpusetPolicy = "cpuset";
constexpr std::string_view kQuotaPolicy = "cfsQuota";
constexpr Duration kMaxAge = std::chrono::seconds(60);
constexpr Duration kTreeMaxAge = std::chrono::seconds(10);

bool IsBe(const NodePod& pod) {
  return pod.raw_qos == api::QosClass::kBe || pod.kube_qos == kube::PodQos::kBestEffort;
}

bool IsBe(const api::HostApplication& app) {
  return app.qos == "BE" && app.cgroup_path && app.cgroup_path->base == "KubepodsBesteffort";
}

bool HasOwnCpus(const NodePod& pod) {
  return !pod.cpuset.empty() ||
         (pod.resource_status && !pod.resource_status->numa_node_resources.empty());
}

// In cores: what the node keeps from pods, by its allocatable amount or by its reservation.
double ReservedCores(const kube::Node& node) {
  const MilliCpu kept = CpuOf(node.status.capacity).value_or(MilliCpu()) -
                        CpuOf(node.status.allocatable).value_or(MilliCpu());
  MilliCpu reserved;
  if (const auto asked = api::NodeReservationOf(node.metadata.annotations); asked.ok() && *asked) {
    const auto cpus = CpuSet::Parse((*asked)->reserved_cpus);
    reserved = cpus.ok() && !cpus->empty() ? MilliCpu(static_cast<int64_t>(cpus->size()) * 1000)
                                           : CpuOf((*asked)->resources).value_or(MilliCpu());
  }
  return std::max(kept, reserved).cores();
}

Update CpuUpdate(CgroupFile file, CgroupDir dir, std::string value) {
  AuditEvent about{.type = AuditEvent::Type::kGroup,
                   .level = 3,
                   .name = dir.path(),
                   .reason = "AdjustBEByNodeCPUUsage"};
  return {CgroupTarget{file, std::move(dir)}, std::move(value), std::move(about)};
}

}  // namespace

CpuSuppress::CpuSuppress(const QosContext& context)
    : context_(context),
      problems_("CPUSuppresss"),
      be_dir_(context.host.cgroups().layout().QosDir(kube::PodQos::kBestEffort)),
      suppressed_(context.registry.AddGauges("koordlet_be_suppress_cpu_cores",
                                             "CPU that all best-effort pods together may use",
                                             {"node", "type"})),
      ls_used_(context.registry
                   .AddGauges("koordlet_be_suppress_ls_used_cpu_cores",
                              "CPU that pods other than best-effort ones use", {"node"})
                   .With({context.node_name})),
      be_used_(context.registry
                   .AddGauges("koordlet_be_suppress_be_used_cpu_cores",
                              "CPU that best-effort pods use", {"node"})
                   .With({context.node_name})) {}

void CpuSuppress::Run() {
  const ThresholdSwitch enabled = ThresholdSwitchOf(context_.state);
  if (enabled == ThresholdSwitch::kUnknown) return;
  if (context_.gates.Enabled("BECPUManager")) {
    RecoverQuota();
    RecoverUnmanagedCpusets();
  } else if (enabled == ThresholdSwitch::kOff) {
    RecoverQuota();
    RecoverCpuset();
  } else {
    Suppress(*context_.state.slo()->resource_used_threshold_with_be);
  }
}

void CpuSuppress::Suppress(const api::ResourceThresholdStrategy& strategy) {
  const std::optional<MilliCpu> be = CpuLeft(strategy);
  if (!be) return;
  if (strategy.cpu_suppress_policy == kQuotaPolicy) {
    SuppressByQuota(*be);
    RecoverCpuset();
  } else {
    SuppressByCpuset(*be);
    RecoverQuota();
  }
}

std::optional<MilliCpu> CpuSuppress::CpuLeft(const api::ResourceThresholdStrategy& strategy) {
  const auto& node = context_.state.node();
  const NodePods& pods = *context_.state.pods();
  const Duration window = 2 * context_.collect_interval;
  const auto node_cpu = context_.metrics.Last({Metric::kNodeCpu}, window);
  if (node == nullptr || pods.empty() || !node_cpu || context_.info.cpu() == nullptr) {
    return std::nullopt;
  }
  NodeCpuUse use{.node = *node_cpu, .reserved = ReservedCores(*node)};
  for (const NodePod& pod : pods) {
    const double used = context_.metrics.Last({Metric::kPodCpu, pod.uid()}, window).value_or(0);
    use.pods += used;
    if (!IsBe(pod)) use.pods_not_be += used;
  }
  const double unlisted = UseOfUnlistedPods(window);
  use.pods += unlisted;
  use.pods_not_be += unlisted;
  for (const api::HostApplication& app : context_.state.slo()->host_applications) {
    const double used = context_.metrics.Last({Metric::kHostAppCpu, app.name}, window).value_or(0);
    use.host_apps += used;
    if (!IsBe(app)) use.host_apps_not_be += used;
  }
  ls_used_.Set(use.pods_not_be);
  be_used_.Set(use.pods - use.pods_not_be);
  const MilliCpu capacity = CpuOf(node->status.capacity).value_or(MilliCpu());
  if (capacity <= MilliCpu() || !strategy.cpu_suppress_threshold_percent) return std::nullopt;
  return BeCpuLeft(capacity, *strategy.cpu_suppress_threshold_percent,
                   strategy.cpu_suppress_min_percent, use);
}

// In cores: what pods have used just now that are listed no more. Nobody knows what they were, so
// that it counts as if it were others than best-effort ones.
double CpuSuppress::UseOfUnlistedPods(Duration window) {
  if (listed_ != context_.state.pods()) {
    StringSet now;
    for (const NodePod& pod : *context_.state.pods()) now.insert(pod.uid());
    std::erase_if(unlisted_, [&](const std::string& uid) { return now.contains(uid); });
    for (const NodePod& pod : *listed_) {
      if (!now.contains(pod.uid())) unlisted_.push_back(pod.uid());
    }
    listed_ = context_.state.pods();
  }
  double sum = 0;
  std::erase_if(unlisted_, [&](const std::string& uid) {
    const auto used = context_.metrics.Last({Metric::kPodCpu, uid}, window);
    sum += used.value_or(0);
    return !used;
  });
  return sum;
}

void CpuSuppress::SuppressByQuota(MilliCpu be) {
  const auto current = context_.host.cgroups().ReadCpuQuota(be_dir_);
  if (!current.ok()) {
    problems_.Report({.object = be_dir_, .kind = "quota is not readable"}, current.status());
    return;
  }
  quota_recovered_ = false;
  const int64_t cpus = ValueOf(context_.state.node()->status.capacity, kube::kCpu).value_or(0);
  const std::optional<int64_t> next = NextBeQuota(be, *current, cpus);
  if (next && !WriteQuota(*next)) return;
  const int64_t quota = next.value_or(current->value());
  Tell(be, fmt::format("a quota of {} us, before {}", quota,
                       current->unlimited() ? "none" : fmt::format("{} us", current->value())));
  suppressed_.With({context_.node_name, kQuotaPolicy})
      .Set(static_cast<double>(quota) / kCpuPeriodMicros);
}

void CpuSuppress::SuppressByCpuset(MilliCpu be) {
  if (context_.state.topology() == nullptr) return;
  const auto current = context_.host.cgroups().ReadCpuset(be_dir_);
  if (!current.ok()) {
    problems_.Report({.object = be_dir_, .kind = "cpuset is not readable"}, current.status());
    return;
  }
  problems_.Resolve({.object = be_dir_, .kind = "cpuset is not readable"});
  const CpuSet chosen = ChooseCpus(be, current->size());
  Tell(be, chosen.empty()
               ? "no good choice of processors, they stay as they are"
               : fmt::format("processors {}, before {}", chosen.ToString(), current->ToString()));
  const BeTree& tree = KnownBeTree();
  if (context_.state.topology()->kubelet_policy == "static") {
    SuppressContainers(tree, *current, chosen);
  } else if (!chosen.empty() && (chosen != *current || chosen != written_)) {
    const std::vector<CgroupDir> root{tree.root};
    WriteCpusets({&root, &tree.pods, &tree.containers}, *current, chosen);
    if (tree_pods_ != nullptr) written_ = chosen;
  }
  if (chosen.empty()) return;
  suppressed_.With({context_.node_name, kCpusetPolicy}).Set(static_cast<double>(chosen.size()));
}

void CpuSuppress::Tell(MilliCpu be, const std::string& outcome) const {
  if (!context_.on_decision) return;
  context_.on_decision(
      {name(), be_dir_.path(),
       fmt::format("{} milli-CPUs are left for best-effort pods: {}", be.value(), outcome)});
}

void CpuSuppress::SuppressContainers(const BeTree& tree, const CpuSet& current,
                                     const CpuSet& chosen) {
  const CpuSet all = RecoveryCpus();
  if (all.empty()) return;
  const std::string grown = (current | all).ToString();
  WriteCpuset(tree.root, grown);
  for (const CgroupDir& pod : tree.pods) WriteCpuset(pod, grown);
  for (const CgroupDir& container : tree.containers) {
    if (!chosen.empty()) {
      WriteCpuset(container, chosen.ToString());
    } else if (const auto has = context_.host.cgroups().ReadCpuset(container);
               has.ok() && !all.Includes(*has)) {
      WriteCpuset(container, all.ToString());  // no more than what is above it will have
    }
  }
  const std::string wanted = all.ToString();
  if (wanted == grown) return;
  for (const CgroupDir& pod : tree.pods) WriteCpuset(pod, wanted);
  WriteCpuset(tree.root, wanted);
}

CpuSet CpuSuppress::ChooseCpus(MilliCpu be, size_t current) const {
  const TopologyView& topology = *context_.state.topology();
  const CpuInfo& info = *context_.info.cpu();
  absl::flat_hash_map<int32_t, api::QosClass> owners;
  for (const NodePod& pod : *context_.state.pods()) {
    for (const int32_t cpu : pod.cpuset) owners[cpu] = pod.qos;
  }
  std::vector<Processor> of_lsr, shared;
  for (const Processor& p : info.topology.processors()) {
    if (topology.reserved_cpus.Contains(p.cpu)) continue;
    if (topology.system_qos_exclusive && topology.system_qos_cpus.Contains(p.cpu)) continue;
    const auto owner = owners.find(p.cpu);
    const bool is_owned = owner != owners.end();
    if (is_owned && owner->second == api::QosClass::kLsr) {
      of_lsr.push_back(p);
    } else if (!is_owned || owner->second != api::QosClass::kLse) {
      shared.push_back(p);
    }
  }
  const int64_t count = NextBeCpuCount(be, static_cast<int64_t>(current),
                                       static_cast<int64_t>(info.topology.processors().size()));
  return ChooseBeCpus(count, of_lsr, shared);
}

void CpuSuppress::RecoverQuota() {
  if (quota_recovered_) return;
  quota_recovered_ = WriteQuota(-1);
  if (quota_recovered_) suppressed_.Remove({context_.node_name, kQuotaPolicy});
}

void CpuSuppress::RecoverCpuset() {
  const CpuSet all = RecoveryCpus();
  if (all.empty()) return;
  const auto current = context_.host.cgroups().ReadCpuset(be_dir_);
  if (!current.ok()) return;
  const SteadyTime now = context_.clock.Steady();
  if (*current == all && recovered_ == KnownBeTree() && now - recovered_at_ < kMaxAge) return;
  BeTree tree = KnownBeTree();
  recovered_ = tree;
  recovered_at_ = now;
  // Directories that have all of them by their parents' grace are left to their parents.
  const auto has_all = [&](const CgroupDir& dir) {
    const auto cpus = context_.host.cgroups().ReadCpuset(dir);
    return cpus.ok() && *cpus == all;
  };
  std::vector<CgroupDir> root{tree.root};
  for (auto* dirs : {&root, &tree.pods, &tree.containers}) std::erase_if(*dirs, has_all);
  WriteCpusets({&root, &tree.pods, &tree.containers}, *current, all);
  suppressed_.Remove({context_.node_name, kCpusetPolicy});
}

void CpuSuppress::RecoverUnmanagedCpusets() {
  const CpuSet all = RecoveryCpus();
  if (all.empty()) return;
  const auto current = context_.host.cgroups().ReadCpuset(be_dir_);
  if (!current.ok()) return;
  BeTree tree = KnownBeTree();
  StringSet managed;
  for (const NodePod& pod : *context_.state.pods()) {
    if (HasOwnCpus(pod)) managed.insert(pod.dir.path());
  }
  std::erase_if(tree.containers,
                [&](const CgroupDir& dir) { return managed.contains(dir.parent()); });
  const std::vector<CgroupDir> root{tree.root};
  WriteCpusets({&root, &tree.pods, &tree.containers}, *current, all);
}

CpuSet CpuSuppress::RecoveryCpus() const {
  const auto& topology = context_.state.topology();
  const auto& info = context_.info.cpu();
  if (topology == nullptr || info == nullptr) return {};
  CpuSet taken = topology->reserved_cpus;
  if (topology->system_qos_exclusive) taken |= topology->system_qos_cpus;
  for (const NodePod& pod : *context_.state.pods()) {
    if (pod.qos == api::QosClass::kLse) taken |= pod.cpuset;
  }
  return info->topology.cpus() - taken;
}

// The kubelet tells of new pods and containers, whose directories start as the ones above them; to
// list all of them each second costs more than to measure their CPU.
const CpuSuppress::BeTree& CpuSuppress::KnownBeTree() {
  const SteadyTime now = context_.clock.Steady();
  if (tree_pods_ != context_.state.pods() || now - tree_read_ >= kTreeMaxAge) {
    tree_ = ReadBeTree();
    written_.reset();
    tree_pods_ = context_.state.pods();
    tree_read_ = now;
  }
  return tree_;
}

CpuSuppress::BeTree CpuSuppress::ReadBeTree() const {
  const Cgroups& cgroups = context_.host.cgroups();
  const auto below = [&](const CgroupDir& dir, std::vector<CgroupDir>& found) {
    const auto names = cgroups.SubDirs(dir, "cpuset");
    if (!names.ok()) return;  // gone meanwhile
    for (const std::string& name : *names) found.push_back(dir.Below(name));
  };
  BeTree tree{.root = be_dir_, .pods = {}, .containers = {}};
  below(be_dir_, tree.pods);
  for (const CgroupDir& pod : tree.pods) below(pod, tree.containers);
  return tree;
}

void CpuSuppress::WriteCpusets(std::initializer_list<const std::vector<CgroupDir>*> lists,
                               const CpuSet& old, const CpuSet& cpus) {
  const CpuSet both = old | cpus;
  const std::string grown = both.ToString();
  for (const auto* dirs : lists) {
    for (const CgroupDir& dir : *dirs) WriteCpuset(dir, grown);
  }
  if (both == cpus) return;
  const std::string wanted = cpus.ToString();
  for (auto list = std::rbegin(lists); list != std::rend(lists); ++list) {
    for (const CgroupDir& dir : **list) WriteCpuset(dir, wanted);
  }
}

void CpuSuppress::WriteCpuset(const CgroupDir& dir, const std::string& cpus) {
  written_.reset();
  const auto written = context_.executor.Apply(CpuUpdate(CgroupFile::kCpuset, dir, cpus));
  if (written.ok()) return;
  problems_.Report({.object = dir, .kind = "cpuset is not writable"}, written.status());
  tree_pods_.reset();  // the directory is gone, or one below it has come
}

bool CpuSuppress::WriteQuota(int64_t quota) {
  const auto written =
      context_.executor.ApplyNow(CpuUpdate(CgroupFile::kCpuQuota, be_dir_, std::to_string(quota)));
  if (!written.ok())
    problems_.Report({.object = be_dir_, .kind = "quota is not writable"}, written.status());
  return written.ok();
}

}  // namespace koord::koordlet
