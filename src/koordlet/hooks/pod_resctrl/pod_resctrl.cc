#include "koordlet/hooks/pod_resctrl/pod_resctrl.h"

#include <algorithm>
#include <set>

#include "api/keys.h"
#include "base/strings.h"
#include "koordlet/host/resctrl.h"

namespace koord::koordlet::hooks {
namespace {

constexpr std::string_view kPrefix = "koordlet-";
constexpr std::string_view kEventReason = "Pod Level Resctrl";
constexpr Duration kMinAge = std::chrono::seconds(10);

std::string GroupName(std::string_view uid) { return fmt::format("{}{}", kPrefix, uid); }

bool AsksForGroup(const HookPod& pod) { return pod.annotations.contains(api::kAnnotationResctrl); }

// The value for each cache: its own where it has one, else that of all. Nothing said of a cache
// leaves it out.
template <class ValueOf>
StatusOr<std::string> LineOf(std::string_view kind, const api::ResctrlResource& wish,
                             const std::vector<int32_t>& caches, ValueOf value_of) {
  std::vector<CacheValue> values;
  for (const int32_t cache : caches) {
    const api::ResctrlSchemata* schemata = &wish.schemata;
    for (const api::ResctrlCacheSchemata& own : wish.schemata_per_cache) {
      if (own.cache_id == cache) schemata = &own;
    }
    ASSIGN_OR_RETURN(std::string value, value_of(*schemata));
    if (!value.empty()) values.push_back({cache, std::move(value)});
  }
  return values.empty() ? std::string() : FormatSchemata(kind, values);
}

}  // namespace

// Null: this machine has no resctrl.
const PodResctrl::Machine* PodResctrl::FindMachine() {
  if (machine_) return &*machine_;
  const auto schemata = env_.host.resctrl().Read("schemata");
  const auto cpu = env_.host.ReadCpuInfo();
  if (!schemata.ok() || !cpu.ok()) return nullptr;
  machine_ = Machine{.vendor = cpu->vendor,
                     .l3_mask = cpu->cat_l3_mask,
                     .l3_caches = ParseCacheIds(*schemata, "L3"),
                     .mb_caches = ParseCacheIds(*schemata, "MB")};
  return &*machine_;
}

StatusOr<ResctrlGroup> PodResctrl::GroupFor(const HookPod& pod, const api::PodResctrl& wish,
                                            const Machine& machine) const {
  ResctrlGroup group{.name = GroupName(pod.uid)};
  const auto mask = [&](const api::ResctrlSchemata& schemata) -> StatusOr<std::string> {
    if (schemata.range.empty()) return "";
    if (schemata.range.size() != 2) return InvalidArgument("llc range must be [from, to]");
    return L3MaskOf(machine.l3_mask, schemata.range[0], schemata.range[1]);
  };
  const auto bandwidth = [&](const api::ResctrlSchemata& schemata) -> StatusOr<std::string> {
    const bool is_known = machine.vendor == "GenuineIntel" || machine.vendor == "AuthenticAMD";
    if (!schemata.percent || !is_known) return "";
    const auto value = MbaValueOf(machine.vendor, *schemata.percent);
    if (!value) return InvalidArgument("mb percent is {}, expected 1..100", *schemata.percent);
    return fmt::format("{}", *value);
  };
  auto l3 = LineOf("L3", wish.llc, machine.l3_caches, mask);
  auto mb = LineOf("MB", wish.mb, machine.mb_caches, bandwidth);
  if (!l3.ok() && !mb.ok()) return l3.status();
  if (!l3.ok() || !mb.ok()) {  // the other one is still good
    env_.problems.Report({.object = pod.key(), .kind = api::kAnnotationResctrl},
                         l3.ok() ? mb.status() : l3.status());
  }
  if (l3.ok()) group.l3 = *std::move(l3);
  if (mb.ok()) group.mb = *std::move(mb);
  return group;
}

Status PodResctrl::MakeRoom(const HookPod& pod) const {
  const TrustPolicy& trust = env_.options.trust;
  if (trust.trust_pod_authors || groups_.contains(GroupName(pod.uid))) return absl::OkStatus();
  const auto of_namespace =
      std::ranges::count_if(groups_, [&](const auto& entry) { return entry.second.ns == pod.ns; });
  if (static_cast<int64_t>(groups_.size()) >= trust.max_resctrl_pods) {
    return FailedPrecondition("the node has {} pods with resctrl groups already", groups_.size());
  }
  if (of_namespace >= trust.max_resctrl_pods_per_namespace) {
    return FailedPrecondition("namespace {} has {} pods with resctrl groups already", pod.ns,
                              of_namespace);
  }
  return absl::OkStatus();
}

Status PodResctrl::OnPod(HookStage stage, const HookPod& pod, PodResult& result) {
  const std::string name = GroupName(pod.uid);
  if (stage == HookStage::kPreRemoveRunPodSandbox) {
    if (!groups_.contains(name)) return absl::OkStatus();
    if (env_.record_event) env_.record_event(pod, kEventReason, "Remove Resctrl Group");
    return Remove(name);
  }
  if (!AsksForGroup(pod)) return absl::OkStatus();
  const Machine* machine = FindMachine();
  if (machine == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(Adopt());
  ASSIGN_OR_RETURN(const auto wish, api::ResctrlOf(pod.annotations));
  if (!wish) return absl::OkStatus();
  RETURN_IF_ERROR(MakeRoom(pod));
  ASSIGN_OR_RETURN(ResctrlGroup group, GroupFor(pod, *wish, *machine));
  Group& known = groups_[name];
  if (known.since == SteadyTime{}) known.since = env_.clock.Steady();
  known.ns = pod.ns;
  if (known.written != group && env_.record_event) {
    env_.record_event(pod, kEventReason, "Create Resctrl Group");
  }
  known.written = group;
  result.resctrl = std::move(group);
  return absl::OkStatus();
}

Status PodResctrl::OnContainer(HookStage, const HookContainer& container, ContainerResult& result) {
  const HookPod& pod = *container.pod;
  if (pod.mode == HookMode::kReconciler || !AsksForGroup(pod)) return absl::OkStatus();
  const std::string name = GroupName(pod.uid);
  if (groups_.contains(name)) result.rdt_class = name;
  return absl::OkStatus();
}

Status PodResctrl::Remove(const std::string& name) {
  RETURN_IF_ERROR(env_.executor.RemoveResctrlGroup(name));
  groups_.erase(name);
  return absl::OkStatus();
}

Status PodResctrl::Adopt() {
  if (has_adopted_) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto entries, env_.host.resctrl().List(""));
  for (const FileTree::Entry& entry : entries) {
    if (!entry.is_directory || !entry.name.starts_with(kPrefix)) continue;
    Group& group = groups_[entry.name];
    group.since = env_.clock.Steady();
    for (const NodePod& pod : *env_.state.pods()) {
      if (GroupName(pod.uid()) == entry.name) group.ns = pod.pod->metadata.ns;
    }
  }
  has_adopted_ = true;
  return absl::OkStatus();
}

void PodResctrl::AddTasks(const ReconciledPod& reconciled, const std::string& group) {
  const auto present = env_.host.resctrl().Read(group + "/tasks");
  if (!present.ok()) return;
  const auto known = ParseIds(*present);
  std::vector<int32_t> missing;
  for (const HookContainer& container : reconciled.containers) {
    const auto threads = env_.host.cgroups().ReadThreads(container.dir);
    if (!threads.ok()) continue;
    for (const int32_t thread : *threads) {
      if (!known.ok() || std::ranges::find(*known, thread) == known->end()) {
        missing.push_back(thread);
      }
    }
  }
  if (missing.empty()) return;
  const Status status = env_.executor.AddResctrlTasks(group, std::move(missing));
  if (!status.ok()) env_.problems.Report({.object = reconciled.pod.key(), .kind = name()}, status);
}

void PodResctrl::OnPass(std::span<const ReconciledPod> pods) {
  if (!env_.state.has_pods() || FindMachine() == nullptr) return;
  const Status adopted = Adopt();
  if (!adopted.ok()) return env_.problems.Report({.object = "resctrl", .kind = name()}, adopted);
  if (groups_.empty()) return;
  std::set<std::string, std::less<>> wanted;
  for (const ReconciledPod& reconciled : pods) {
    const std::string group = GroupName(reconciled.pod.uid);
    if (!AsksForGroup(reconciled.pod) || !groups_.contains(group)) continue;
    if (env_.options.enable_pod_task_ids) AddTasks(reconciled, group);
    wanted.insert(group);
  }
  std::vector<std::string> gone;
  for (const auto& [group, known] : groups_) {
    const bool is_old = env_.clock.Steady() - known.since >= kMinAge;
    if (is_old && !wanted.contains(group)) gone.push_back(group);
  }
  for (const std::string& group : gone) {
    const Status status = Remove(group);
    if (!status.ok()) env_.problems.Report({.object = group, .kind = name()}, status);
  }
}

}  // namespace koord::koordlet::hooks
