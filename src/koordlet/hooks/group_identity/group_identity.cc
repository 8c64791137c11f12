#include "koordlet/hooks/group_identity/group_identity.h"

#include <algorithm>

#include "api/koordlet_annotations.h"
#include "base/strings.h"
#include "koordlet/hooks/engine/class_qos.h"
#include "koordlet/hooks/engine/sched_switches.h"

namespace koord::koordlet::hooks {
namespace {

using api::QosClass;
using kube::PodQos;

int64_t BvtOf(const api::NodeSloSpec& slo, QosClass qos) {
  if (!IsCpuQosEnabled(slo, qos)) return 0;
  return CpuQosOfClass(slo, qos)->group_identity.value_or(0);
}

}  // namespace

GroupIdentity::Rule GroupIdentity::ParseRule(const api::NodeSloSpec& slo) {
  Rule rule;
  if (CpuPolicyOf(slo) != "groupIdentity") return rule;
  for (const QosClass qos : {QosClass::kLsr, QosClass::kLs, QosClass::kBe}) {
    rule.is_enabled |= IsCpuQosEnabled(slo, qos);
  }
  rule.lsr = BvtOf(slo, QosClass::kLsr);
  rule.ls = BvtOf(slo, QosClass::kLs);
  rule.be = BvtOf(slo, QosClass::kBe);
  rule.guaranteed = IsCpuQosEnabled(slo, QosClass::kLsr) ? rule.lsr : rule.ls;
  return rule;
}

bool GroupIdentity::IsSupported() const {
  const Cgroups& cgroups = env_.host.cgroups();
  return cgroups.IsSupported(CgroupFile::kCpuBvt, cgroups.layout().QosDir(PodQos::kGuaranteed)) ||
         env_.host.proc().Exists(kGroupIdentitySwitch);
}

bool GroupIdentity::IsIdle() const {
  if (!rule_ || kernel_refused_ || !IsSupported()) return true;
  return !rule_->is_enabled && ReadSwitch(env_.host, kGroupIdentitySwitch) == "0";
}

bool GroupIdentity::OnStateChange() {
  if (env_.state.slo() == nullptr) return false;
  const Rule rule = ParseRule(*env_.state.slo());
  if (rule_ == rule && !kernel_refused_) return false;
  const bool is_new = rule_ != rule;
  rule_ = rule;
  if (!IsSupported()) return false;
  const bool was_refused = kernel_refused_;
  const Status status = rule.is_enabled ? SwitchKernel() : absl::OkStatus();
  kernel_refused_ = !status.ok();
  if (!status.ok()) env_.problems.Report({.object = "node", .kind = name()}, status);
  return !kernel_refused_ && (is_new || was_refused);
}

Status GroupIdentity::SwitchKernel() {
  if (!env_.host.proc().Exists(kGroupIdentitySwitch)) return absl::OkStatus();
  if (env_.host.proc().Exists(kCoreSchedSwitch)) {
    RETURN_IF_ERROR(SetSwitch(env_, name(), kCoreSchedSwitch, false));
  }
  return SetSwitch(env_, name(), kGroupIdentitySwitch, true);
}

int64_t GroupIdentity::ValueOfDir(PodQos qos) const {
  switch (qos) {
    case PodQos::kGuaranteed:
      return 0;  // is above the others
    case PodQos::kBurstable:
      return rule_->ls;
    case PodQos::kBestEffort:
      break;
  }
  return rule_->be;
}

int64_t GroupIdentity::ValueOfLabel(QosClass label, PodQos kube_qos) const {
  switch (label) {
    case QosClass::kLse:
    case QosClass::kLsr:
      return rule_->lsr;
    case QosClass::kLs:
      return rule_->ls;
    case QosClass::kBe:
      return rule_->be;
    case QosClass::kNone:
    case QosClass::kSystem:
      break;
  }
  return kube_qos == PodQos::kGuaranteed ? rule_->guaranteed : ValueOfDir(kube_qos);
}

StatusOr<int64_t> GroupIdentity::ValueOfPod(const HookPod& pod) const {
  const int64_t value = ValueOfLabel(pod.label_qos, pod.kube_qos);
  if (pod.label_qos != QosClass::kLs || !rule_->is_enabled) return value;
  ASSIGN_OR_RETURN(const std::optional<api::CpuQos> own, api::CpuQosOf(pod.annotations));
  if (!own) return value;
  if (!own->enable.value_or(false)) return 0;
  return own->group_identity.value_or(value);
}

Status GroupIdentity::OnPod(HookStage, const HookPod& pod, PodResult& result) {
  if (IsIdle()) return absl::OkStatus();
  ASSIGN_OR_RETURN(result.bvt, ValueOfPod(pod));
  return absl::OkStatus();
}

Status GroupIdentity::OnContainer(HookStage, const HookContainer& container,
                                  ContainerResult& result) {
  if (IsIdle()) return absl::OkStatus();
  ASSIGN_OR_RETURN(result.bvt, ValueOfPod(*container.pod));
  return absl::OkStatus();
}

Status GroupIdentity::OnQosDir(PodQos qos, DirResult& result) {
  if (!IsIdle()) result.bvt = ValueOfDir(qos);
  return absl::OkStatus();
}

Status GroupIdentity::OnHostApplication(const api::HostApplication& application,
                                        DirResult& result) {
  if (IsIdle()) return absl::OkStatus();
  switch (api::ParseQosClass(application.qos)) {
    case QosClass::kLse:
    case QosClass::kLsr:
      result.bvt = rule_->lsr;
      break;
    case QosClass::kLs:
      result.bvt = rule_->ls;
      break;
    case QosClass::kBe:
      result.bvt = rule_->be;
      break;
    case QosClass::kNone:
    case QosClass::kSystem:
      result.bvt = 0;
  }
  return absl::OkStatus();
}

void GroupIdentity::AfterRewrite() {
  if (!IsIdle()) WriteAllUnknown();
  if (!rule_ || rule_->is_enabled) return;
  PutBackSwitch(env_, name(), kGroupIdentitySwitch);
  PutBackSwitch(env_, name(), kCoreSchedSwitch);
}

// Pods that the kubelet does not tell of, or not yet, have the value of the directory they are in.
void GroupIdentity::WriteAllUnknown() {
  const Cgroups& cgroups = env_.host.cgroups();
  for (const PodQos qos : {PodQos::kGuaranteed, PodQos::kBurstable, PodQos::kBestEffort}) {
    const CgroupDir above = cgroups.layout().QosDir(qos);
    const auto names = cgroups.SubDirs(above);
    if (!names.ok()) continue;
    for (const std::string& name : *names) {
      if (!name.starts_with("pod") && name.find("-pod") == name.npos) continue;
      const CgroupDir dir = above.Below(name);
      const bool is_known = std::ranges::any_of(
          *env_.state.pods(), [&](const NodePod& pod) { return pod.is_active && pod.dir == dir; });
      if (!is_known) WriteUnknown(qos, dir);
    }
  }
}

void GroupIdentity::WriteUnknown(PodQos qos, const CgroupDir& pod_dir) {
  const std::string value = fmt::format("{}", ValueOfDir(qos));
  const auto write = [&](const CgroupDir& dir) {
    Update update{CgroupTarget{CgroupFile::kCpuBvt, dir}, value, {}};
    update.about.type = AuditEvent::Type::kGroup;
    update.about.level = 3;
    update.about.name = pod_dir.path();
    update.about.reason = "RuntimeHook";
    const Status status = env_.executor.Apply(update).status();
    if (!status.ok()) env_.problems.Report({.object = pod_dir, .kind = name()}, status);
  };
  write(pod_dir);
  const auto containers = env_.host.cgroups().SubDirs(pod_dir);
  if (!containers.ok()) return;
  for (const std::string& container : *containers) write(pod_dir.Below(container));
}

}  // namespace koord::koordlet::hooks
