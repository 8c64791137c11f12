#include "koordlet/qos/resctrl/resctrl_qos.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/keys.h"
#include "koordlet/host/resctrl.h"

namespace koord::koordlet {
namespace {

constexpr std::array<std::string_view, 3> kGroups{"LSR", "LS", "BE"};
constexpr Duration kMaxAge = std::chrono::seconds(60);
constexpr std::string_view kMaskFile = "info/L3/cbm_mask";

// Where a class is switched off it has all there is.
api::ResctrlQos Effective(const api::ResctrlQos& config) {
  if (config.enable.value_or(false)) return config;
  api::ResctrlQos all;
  all.cat_range_start_percent = 0;
  all.cat_range_end_percent = 100;
  all.mba_percent = 100;
  return all;
}

// The index in kGroups; none for pods that are in no group.
std::optional<size_t> GroupOf(const NodePod& pod) {
  switch (pod.qos) {
    case api::QosClass::kLse:
    case api::QosClass::kLsr:
      return 0;
    case api::QosClass::kLs:
      return 1;
    case api::QosClass::kBe:
      return 2;
    default:
      return std::nullopt;
  }
}

}  // namespace

ResctrlQosStrategy::ResctrlQosStrategy(const QosContext& context)
    : context_(context), problems_("ResctrlReconcile") {}

void ResctrlQosStrategy::Run() {
  NodeInputs inputs = NodeInputs::Of(context_.state);
  if (inputs.slo == nullptr || !inputs.slo->resource_qos_strategy || !IsSupported()) return;
  if (context_.is_restoring) return RemoveGroups();
  const SteadyTime now = context_.clock.Steady();
  const bool is_new = inputs.slo != inputs_.slo;
  inputs_ = std::move(inputs);
  if (is_new || !has_groups_ || now - applied_ >= kMaxAge) {
    ApplySchemata();
    applied_ = now;
  }
  if (has_groups_) AddTasks();
}

bool ResctrlQosStrategy::IsSupported() {
  const auto& cpus = context_.info.cpu();
  if (cpus == nullptr) return false;
  if (cpus != cpus_) {
    cpus_ = cpus;
    const auto has = [&](std::string_view flag) {
      return std::ranges::find(cpus->flags, flag) != cpus->flags.end();
    };
    supported_ = has("cat_l3") && has("mba");
  }
  return supported_;
}

void ResctrlQosStrategy::Mount() {
  if (context_.host.resctrl().Exists(kMaskFile) || std::exchange(has_tried_to_mount_, true)) return;
  const Status mounted = context_.host.kernel().MountResctrl();
  if (!mounted.ok())
    problems_.Report({.object = kMaskFile, .kind = "resctrl cannot be mounted"}, mounted);
}

// Threads of a group that goes are in the root's again.
void ResctrlQosStrategy::RemoveGroups() {
  for (const std::string_view group : kGroups) {
    if (!context_.host.resctrl().Exists(group)) continue;
    const Status removed = context_.executor.RemoveResctrlGroup(group);
    if (!removed.ok())
      problems_.Report({.object = group, .kind = "group cannot be removed"}, removed);
  }
}

const api::ResctrlQos* ResctrlQosStrategy::ConfigOf(size_t group) const {
  const api::ResourceQosStrategy& strategy = *inputs_.slo->resource_qos_strategy;
  const std::optional<api::ResourceQos>* const classes[] = {&strategy.lsr_class, &strategy.ls_class,
                                                            &strategy.be_class};
  const auto& of_class = *classes[group];
  return of_class && of_class->resctrl_qos ? &*of_class->resctrl_qos : nullptr;
}

void ResctrlQosStrategy::ApplySchemata() {
  Mount();
  const auto cbm = context_.host.resctrl().Read(kMaskFile);
  const auto root = context_.host.resctrl().Read("schemata");
  if (!cbm.ok() || !root.ok()) {
    problems_.Report({.object = kMaskFile, .kind = "resctrl is not mounted"},
                     cbm.ok() ? root.status() : cbm.status());
    return;
  }
  problems_.Resolve({.object = kMaskFile, .kind = "resctrl is not mounted"});
  for (size_t i = 0; i < kGroups.size(); ++i) {
    if (const Status made = context_.executor.MakeResctrlGroup(kGroups[i]); !made.ok()) {
      problems_.Report({.object = kGroups[i], .kind = "group cannot be made"}, made);
      continue;
    }
    has_groups_ = true;
    if (const api::ResctrlQos* config = ConfigOf(i)) {
      ApplyGroup(kGroups[i], Effective(*config), *cbm, *root);
    }
  }
}

void ResctrlQosStrategy::ApplyGroup(std::string_view group, const api::ResctrlQos& config,
                                    std::string_view cbm, std::string_view root_schemata) {
  if (config.cat_range_start_percent && config.cat_range_end_percent) {
    const auto mask = L3MaskOf(cbm, *config.cat_range_start_percent, *config.cat_range_end_percent);
    if (mask.ok()) {
      WriteSchemata(group, "L3", root_schemata, *mask);
    } else {
      problems_.Report({.object = group, .kind = "cache range is unusable"}, mask.status());
    }
  }
  const auto bandwidth = MbaValueOf(cpus_->vendor, config.mba_percent.value_or(0));
  if (bandwidth) WriteSchemata(group, "MB", root_schemata, std::to_string(*bandwidth));
}

void ResctrlQosStrategy::WriteSchemata(std::string_view group, std::string_view kind,
                                       std::string_view root_schemata, const std::string& value) {
  std::vector<int32_t> caches = ParseCacheIds(root_schemata, kind);
  if (caches.empty()) {
    for (const Processor& p : cpus_->topology.processors()) caches.push_back(p.l3);
    std::ranges::sort(caches);
    caches.erase(std::unique(caches.begin(), caches.end()), caches.end());
  }
  std::vector<CacheValue> values;
  for (const int32_t cache : caches) values.push_back({cache, value});
  const auto written = context_.executor.Apply(
      {ResctrlSchemata{std::string(group), std::string(kind)}, FormatSchemata(kind, values),
       AuditEvent{.type = AuditEvent::Type::kGroup,
                  .level = 3,
                  .ns = {},
                  .name = std::string(group),
                  .container = {},
                  .reason = "AdjustResctrl",
                  .message = {}}});
  if (!written.ok())
    problems_.Report({.object = group, .kind = "schemata is not writable"}, written.status());
}

// None: its threads are not ours to move.
std::optional<size_t> ResctrlQosStrategy::ManagedGroupOf(const NodePod& pod) const {
  const auto group = GroupOf(pod);
  if (!group || pod.pod->metadata.annotations.contains(api::kAnnotationResctrl)) {
    return std::nullopt;
  }
  const api::ResctrlQos* const config = ConfigOf(*group);
  return config != nullptr && config->enable.value_or(false) ? group : std::nullopt;
}

void ResctrlQosStrategy::AddTasks() {
  const bool changed = pods_.Follow(context_.state);
  std::array<std::vector<int32_t>, kGroups.size()> threads;
  // Of the pod whose entries come.
  std::optional<size_t> group;
  bool has_pod_run = true;
  for (Pods::Entry& entry : pods_.entries()) {
    const bool is_pod = entry.container == nullptr;
    if (is_pod) {
      group = ManagedGroupOf(*entry.pod);
      if (changed) entry.memory.sandbox.reset();
      has_pod_run = group && HasRun(entry);
    }
    if (!group) continue;
    const bool has_run = has_pod_run && (is_pod || HasRun(entry));
    if (changed || has_run || !entry.memory.is_known) ReadThreads(entry);
    const std::vector<int32_t>& more = entry.memory.threads;
    threads[*group].insert(threads[*group].end(), more.begin(), more.end());
  }
  looked_ = context_.clock.Steady();
  for (size_t i = 0; i < kGroups.size(); ++i) {
    if (!threads[i].empty()) MoveThreads(kGroups[i], std::move(threads[i]));
  }
}

void ResctrlQosStrategy::MoveThreads(std::string_view group, std::vector<int32_t> threads) {
  const auto text = context_.host.resctrl().Read(fmt::format("{}/tasks", group));
  const auto present = text.ok() ? ParseIds(*text) : text.status();
  if (!present.ok()) {
    problems_.Report({.object = group, .kind = "tasks are not readable"}, present.status());
    return;
  }
  const absl::flat_hash_set<int32_t> known(present->begin(), present->end());
  std::erase_if(threads, [&](int32_t thread) { return known.contains(thread); });
  if (threads.empty()) return;
  const Status added = context_.executor.AddResctrlTasks(group, std::move(threads));
  if (!added.ok()) problems_.Report({.object = group, .kind = "tasks are not writable"}, added);
}

// To list threads is dear, and where no CPU time was used no thread has come that uses caches.
bool ResctrlQosStrategy::HasRun(const Pods::Entry& entry) const {
  if (!looked_) return true;
  const Metric metric = entry.container == nullptr ? Metric::kPodCpu : Metric::kContainerCpu;
  const Duration since = context_.clock.Steady() - *looked_ - std::chrono::milliseconds(1);
  const auto used = context_.metrics.Average({metric, entry.subject()}, since);
  return !used || used->average > 0;
}

void ResctrlQosStrategy::ReadThreads(Pods::Entry& entry) {
  if (entry.container == nullptr) return ReadThreadsOfSandbox(*entry.pod, entry.memory);
  ReadThreadsIn(entry.dir(), entry.memory);
}

// Version 1 lists threads as they were when the file was opened, so it must be opened each time.
void ResctrlQosStrategy::ReadThreadsIn(const CgroupDir& dir, Memory& memory) {
  memory.is_known = true;
  memory.threads.clear();
  if (dir.is_root()) return;
  const Cgroups& cgroups = context_.host.cgroups();
  StatusOr<std::vector<int32_t>> threads;
  if (cgroups.layout().version == CgroupVersion::kV1) {
    threads = cgroups.ReadThreads(dir);
  } else {
    const auto text = memory.file.Read(cgroups, CgroupFile::kThreads, dir, buffer_);
    threads = text.ok() ? ParseIds(*text) : text.status();
  }
  memory.is_known = threads.ok();
  if (threads.ok()) memory.threads = *std::move(threads);
}

void ResctrlQosStrategy::ReadThreadsOfSandbox(const NodePod& pod, Memory& memory) {
  if (!memory.sandbox) {
    memory = {};
    std::vector<CgroupDir> dirs;
    for (const NodeContainer& container : pod.containers) {
      if (!container.dir.is_root()) dirs.push_back(container.dir);
    }
    const auto found = context_.host.cgroups().FindSandboxDir(pod.dir, dirs);
    if (!found.ok()) return;
    memory.sandbox = found->value_or(CgroupDir());
  }
  if (!HasSandboxRun(memory)) return;
  ReadThreadsIn(*memory.sandbox, memory);
  if (memory.threads.empty()) memory.sandbox.reset();  // it may have been made anew
}

// Nobody measures sandboxes. In version 2 it costs no less to ask than to list the threads.
bool ResctrlQosStrategy::HasSandboxRun(Memory& memory) {
  const Cgroups& cgroups = context_.host.cgroups();
  if (memory.sandbox->is_root() || cgroups.layout().version == CgroupVersion::kV2) return true;
  const auto usage = memory.file.Read(cgroups, CgroupFile::kCpuUsage, *memory.sandbox, buffer_);
  if (memory.is_known && usage.ok() && *usage == memory.usage) return false;
  memory.usage.assign(usage.ok() ? *usage : "");
  return true;
}

}  // namespace koord::koordlet
