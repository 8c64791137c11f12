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
  if (!mounted.ok()) problems_.Report("resctrl cannot be mounted", kMaskFile, mounted);
}

// Threads of a group that goes are in the root's again.
void ResctrlQosStrategy::RemoveGroups() {
  for (const std::string_view group : kGroups) {
    if (!context_.host.resctrl().Exists(group)) continue;
    const Status removed = context_.executor.RemoveResctrlGroup(group);
    if (!removed.ok()) problems_.Report("group cannot be removed", group, removed);
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
    problems_.Report("resctrl is not mounted", kMaskFile, cbm.ok() ? root.status() : cbm.status());
    return;
  }
  problems_.Resolve("resctrl is not mounted", kMaskFile);
  for (size_t i = 0; i < kGroups.size(); ++i) {
    if (const Status made = context_.executor.MakeResctrlGroup(kGroups[i]); !made.ok()) {
      problems_.Report("group cannot be made", kGroups[i], made);
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
      problems_.Report("cache range is unusable", group, mask.status());
    }
  }
  const auto bandwidth = MbaValueOf(cpus_->vendor, config.mba_percent.value_or(0));
  if (bandwidth) WriteSchemata(group, "MB", root_schemata, std::to_string(*bandwidth));
}

void ResctrlQosStrategy::WriteSchemata(std::string_view group, std::string_view kind,
                                       std::string_view root_schemata, const std::string& value) {
  std::vector<int32_t> caches = ParseCacheIds(root_schemata, kind);
  if (caches.empty()) {
    for (const Processor& p : cpus_->processors) caches.push_back(p.l3);
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
  if (!written.ok()) problems_.Report("schemata is not writable", group, written.status());
}

void ResctrlQosStrategy::AddTasks() {
  std::array<bool, kGroups.size()> enabled{};
  for (size_t i = 0; i < kGroups.size(); ++i) {
    const api::ResctrlQos* config = ConfigOf(i);
    enabled[i] = config != nullptr && config->enable.value_or(false);
  }
  std::array<std::vector<int32_t>, kGroups.size()> threads;
  for (const NodePod& pod : *inputs_.pods) {
    const auto group = GroupOf(pod);
    if (!pod.is_active || !group || !enabled[*group]) continue;
    if (pod.pod->metadata.annotations.contains(api::kAnnotationResctrl)) continue;
    const std::vector<int32_t> of_pod = ThreadsOf(pod);
    threads[*group].insert(threads[*group].end(), of_pod.begin(), of_pod.end());
  }
  for (size_t i = 0; i < kGroups.size(); ++i) {
    if (threads[i].empty()) continue;
    const auto text = context_.host.resctrl().Read(fmt::format("{}/tasks", kGroups[i]));
    const auto present = text.ok() ? ParseIds(*text) : text.status();
    if (!present.ok()) {
      problems_.Report("tasks are not readable", kGroups[i], present.status());
      continue;
    }
    const absl::flat_hash_set<int32_t> known(present->begin(), present->end());
    std::erase_if(threads[i], [&](int32_t thread) { return known.contains(thread); });
    if (threads[i].empty()) continue;
    const Status added = context_.executor.AddResctrlTasks(kGroups[i], std::move(threads[i]));
    if (!added.ok()) problems_.Report("tasks are not writable", kGroups[i], added);
  }
}

std::vector<int32_t> ResctrlQosStrategy::ThreadsOf(const NodePod& pod) const {
  const Cgroups& cgroups = context_.host.cgroups();
  std::vector<int32_t> threads;
  const auto add = [&](const std::string& dir) {
    if (const auto found = cgroups.ReadThreads(dir); found.ok()) {
      threads.insert(threads.end(), found->begin(), found->end());
    }
  };
  std::vector<std::string> dirs;
  for (const NodeContainer& container : pod.containers) {
    if (container.dir.empty()) continue;
    dirs.push_back(container.dir);
    add(container.dir);
  }
  if (const auto sandbox = cgroups.FindSandboxDir(pod.dir, dirs); sandbox.ok()) {
    if (!sandbox->empty()) add(*sandbox);
  }
  return threads;
}

}  // namespace koord::koordlet
