#include "koordlet/hooks/engine/reconciler.h"

#include <string>
#include <utility>

namespace koord::koordlet::hooks {
namespace {

using kube::PodQos;

// The reconciler has no stage of its own: plugins answer as they would when the thing is made.
constexpr HookStage kPodStage = HookStage::kPreRunPodSandbox;
constexpr HookStage kContainerStage = HookStage::kPreCreateContainer;

}  // namespace

Reconciler::Reconciler(HookRunner& runner) : runner_(runner), env_(runner.env()) {}

void Reconciler::Report(std::string_view object, std::string_view kind, const Status& status,
                        bool& ok) {
  if (!status.ok()) ok = false;
  env_.problems.Set({.object = object, .kind = kind}, status);
}

bool Reconciler::OnStateChange() {
  std::vector<HookPlugin*> changed;
  for (const auto& plugin : runner_.plugins()) {
    if (plugin->OnStateChange()) changed.push_back(plugin.get());
  }
  if (changed.empty()) return false;
  ++generation_;
  ReconcileDirs();
  runner_.writer().CollectLevels();
  PassOverPods();
  runner_.writer().FlushLevels();
  for (HookPlugin* plugin : changed) plugin->AfterRewrite();
  return true;
}

void Reconciler::ReconcilePods() { PassOverPods(); }

void Reconciler::PassOverPods() {
  ++pass_;
  runner_.grants().Update(env_.state);
  const std::shared_ptr<const NodePods> pods = env_.state.pods();
  std::vector<ReconciledPod> reconciled;
  reconciled.reserve(pods->size());
  for (const NodePod& node_pod : *pods) {
    if (!node_pod.is_active) continue;
    Record& record = RecordOf(node_pod);
    GrantCpus(record);
    if (IsDue(record)) Write(record, node_pod);
    reconciled.push_back(
        {record.pod, node_pod, record.containers, record.sandbox ? &*record.sandbox : nullptr});
  }
  ForgetGonePods();
  for (const auto& plugin : runner_.plugins()) plugin->OnPass(reconciled);
}

Reconciler::Record& Reconciler::RecordOf(const NodePod& node_pod) {
  std::unique_ptr<Record>& record = records_[node_pod.uid()];
  if (record == nullptr || record->pod.object != node_pod.pod || record->cpus != node_pod.cpuset) {
    record = std::make_unique<Record>();
    record->cpus = node_pod.cpuset;
    record->pod = MakeHookPod(node_pod);
    record->containers = MakeHookContainers(record->pod, node_pod);
  }
  record->seen = pass_;
  return *record;
}

// What others have may change what a pod may have.
void Reconciler::GrantCpus(Record& record) {
  HookPod& pod = record.pod;
  const bool has_status = !pod.resource_status.ok() || pod.resource_status->has_value();
  if (!has_status) return;
  auto cpuset = runner_.grants().CpusetOf(pod);
  bool ok = true;
  Report(pod.key(), "resource-status", cpuset.status(), ok);
  std::optional<std::string> granted = ok ? *std::move(cpuset) : std::nullopt;
  if (granted == pod.cpuset) return;
  pod.cpuset = std::move(granted);
  record.is_settled = false;
}

bool Reconciler::IsDue(const Record& record) const {
  return !record.is_settled || record.generation != generation_ ||
         env_.clock.Steady() - record.written_at >= env_.options.force_update_after;
}

void Reconciler::Write(Record& record, const NodePod& node_pod) {
  FindSandbox(record, node_pod);
  bool ok = WritePod(record.pod);
  if (record.sandbox) ok &= WriteContainer(*record.sandbox);
  for (const HookContainer& container : record.containers) ok &= WriteContainer(container);
  record.generation = generation_;
  record.written_at = env_.clock.Steady();
  record.is_settled = ok && AllDirsExist(record, node_pod);
}

void Reconciler::FindSandbox(Record& record, const NodePod& node_pod) {
  if (record.sandbox && env_.host.cgroups().HasDir(record.sandbox->dir)) return;
  record.sandbox.reset();
  if (record.containers.empty()) return;
  std::vector<CgroupDir> dirs;
  for (const NodeContainer& container : node_pod.containers) {
    if (!container.dir.is_root()) dirs.push_back(container.dir);
  }
  const auto dir = env_.host.cgroups().FindSandboxDir(record.pod.dir, dirs);
  if (!dir.ok() || !*dir) return;  // not yet, or not to be told from the others
  HookContainer& sandbox = record.sandbox.emplace();
  sandbox.pod = &record.pod;
  sandbox.dir = **dir;
  sandbox.id = sandbox.dir.name();
  sandbox.is_sandbox = true;
}

bool Reconciler::WritePod(const HookPod& pod) {
  PodResult result;
  bool ok = true;
  for (const auto& plugin : runner_.plugins()) {
    Report(pod.key(), plugin->name(), plugin->OnPod(kPodStage, pod, result), ok);
  }
  Report(pod.key(), "write", runner_.writer().WritePod(pod, result), ok);
  return ok;
}

bool Reconciler::WriteContainer(const HookContainer& container) {
  const std::string object = fmt::format("{}/{}", container.pod->key(),
                                         container.is_sandbox ? "<sandbox>" : container.name);
  ContainerResult result;
  bool ok = true;
  for (const auto& plugin : runner_.plugins()) {
    Report(object, plugin->name(), plugin->OnContainer(kContainerStage, container, result), ok);
  }
  Report(object, "write", runner_.writer().WriteContainer(container, result), ok);
  return ok;
}

bool Reconciler::AllDirsExist(const Record& record, const NodePod& node_pod) const {
  if (!env_.host.cgroups().HasDir(record.pod.dir)) return false;
  for (const NodeContainer& container : node_pod.containers) {
    if (container.is_running && !container.dir.is_root() &&
        !env_.host.cgroups().HasDir(container.dir)) {
      return false;
    }
  }
  return true;
}

void Reconciler::ForgetGonePods() {
  absl::erase_if(records_, [this](const auto& entry) { return entry.second->seen != pass_; });
}

void Reconciler::ReconcileDirs() {
  const CgroupLayout& layout = env_.host.cgroups().layout();
  for (const PodQos qos : {PodQos::kGuaranteed, PodQos::kBurstable, PodQos::kBestEffort}) {
    DirResult result;
    bool ok = true;
    const std::string_view name = kube::ToString(qos);
    for (const auto& plugin : runner_.plugins()) {
      Report(name, plugin->name(), plugin->OnQosDir(qos, result), ok);
    }
    Report(name, "write",
           runner_.writer().WriteDir(HookLevel::kQosDir, name, layout.QosDir(qos), result), ok);
  }
  if (env_.state.slo() == nullptr) return;
  for (const api::HostApplication& application : env_.state.slo()->host_applications) {
    DirResult result;
    bool ok = true;
    const std::string object = "host application " + application.name;
    for (const auto& plugin : runner_.plugins()) {
      Report(object, plugin->name(), plugin->OnHostApplication(application, result), ok);
    }
    const auto dir = layout.HostApplicationDir(application);
    Report(object, "cgroupPath", dir.status(), ok);
    if (!dir.ok()) continue;
    Report(object, "write",
           runner_.writer().WriteDir(HookLevel::kHostApplication, application.name, *dir, result),
           ok);
  }
}

}  // namespace koord::koordlet::hooks
