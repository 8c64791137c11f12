#include "koordlet/hooks/core_sched/core_sched.h"

#include <algorithm>
#include <tuple>

#include "api/keys.h"
#include "base/strings.h"
#include "koordlet/hooks/engine/class_qos.h"
#include "koordlet/hooks/engine/sched_switches.h"

namespace koord::koordlet::hooks {
namespace {

using api::QosClass;
using kube::PodQos;

constexpr std::string_view kSchedFeatures = "kernel/debug/sched_features";
constexpr std::string_view kFeatureOn = "CORE_SCHED";
constexpr std::string_view kFeatureOff = "NO_CORE_SCHED";
constexpr std::string_view kFeatureSetting = "sched_features/CORE_SCHED";  // as a setting's name

// "ON" and "NO_ON" stand among the features of kernels that know it.
std::optional<std::string> FeatureText(const Host& host) {
  const auto text = host.sys().Read(kSchedFeatures);
  if (!text.ok()) return std::nullopt;
  for (const std::string_view feature : Split(Trim(*text), ' ')) {
    if (feature == kFeatureOn || feature == kFeatureOff) return std::string(feature);
  }
  return std::nullopt;
}

}  // namespace

CoreSched::CoreSched(const HookEnv& env)
    : env_(env),
      book_(env.host.kernel(), env.clock),
      cookies_(env.registry.AddGauges(
                   "koordlet_container_core_sched_cookie", "Core scheduling cookie of a container",
                   {"node", "pod_namespace", "pod_name", "container_id", "container_name",
                    "pod_uid", "core_sched_group", "core_sched_cookie"}),
               env.clock),
      changes_(env.registry.AddCounters("koordlet_core_sched_cookie_manage_status",
                                        "Changes of core scheduling cookies",
                                        {"node", "core_sched_group", "status"}),
               env.clock) {}

CoreSched::Rule CoreSched::ParseRule(const api::NodeSloSpec& slo) {
  Rule rule;
  if (CpuPolicyOf(slo) != "coreSched") return rule;
  const auto parse = [&](QosClass qos) {
    const api::CpuQos* cpu = CpuQosOfClass(slo, qos);
    if (cpu == nullptr || !cpu->enable.value_or(false)) return ClassRule();
    rule.is_enabled = true;
    return ClassRule{.is_enabled = true,
                     .has_expeller = cpu->core_expeller.value_or(false),
                     .is_idle = cpu->sched_idle.value_or(0) == 1};
  };
  rule.lsr = parse(QosClass::kLsr);
  rule.ls = parse(QosClass::kLs);
  rule.be = parse(QosClass::kBe);
  return rule;
}

bool CoreSched::OnStateChange() {
  if (env_.state.slo() == nullptr) return false;
  const Rule rule = ParseRule(*env_.state.slo());
  if (rule_ == rule) return false;
  rule_ = rule;
  return true;
}

Status CoreSched::OnQosDir(PodQos qos, DirResult& result) {
  if (!rule_) return absl::OkStatus();
  switch (qos) {
    case PodQos::kGuaranteed:
      result.idle = false;  // is above the others
      break;
    case PodQos::kBurstable:
      result.idle = rule_->ls.is_idle;
      break;
    case PodQos::kBestEffort:
      result.idle = rule_->be.is_idle;
  }
  return absl::OkStatus();
}

const CoreSched::ClassRule& CoreSched::RuleOf(const HookPod& pod) const {
  switch (CpuClassOf(*env_.state.slo(), pod.label_qos, pod.kube_qos)) {
    case QosClass::kLse:
    case QosClass::kLsr:
      return rule_->lsr;
    case QosClass::kLs:
      return rule_->ls;
    default:
      return rule_->be;
  }
}

std::string CoreSched::GroupName(const HookPod& pod) const {
  std::string group;
  const std::string_view label = kube::ValueOf(pod.labels, api::kLabelCoreSchedGroupId);
  if (kube::ValueOf(pod.labels, api::kLabelCoreSchedPolicy) == "exclusive") {
    group = pod.uid;
  } else if (env_.options.trust.trust_pod_authors || label.empty()) {
    group = label;
  } else {
    group = fmt::format("{}/{}", pod.ns, label);  // nobody joins strangers by their name
  }
  if (RuleOf(pod).has_expeller) group += "-expeller";
  return group;
}

std::optional<std::string> CoreSched::GroupOf(const HookPod& pod) const {
  if (!RuleOf(pod).is_enabled) return std::nullopt;
  if (kube::ValueOf(pod.labels, api::kLabelCoreSchedPolicy) == "none") return std::nullopt;
  return GroupName(pod);
}

bool CoreSched::IsSupported() const {
  return env_.host.proc().Exists(kCoreSchedSwitch) || FeatureText(env_.host).has_value() ||
         env_.host.kernel().HasCoreScheduling();
}

Status CoreSched::SwitchOn() {
  if (env_.host.proc().Exists(kGroupIdentitySwitch)) {
    RETURN_IF_ERROR(SetSwitch(env_, name(), kGroupIdentitySwitch, false));
  }
  if (env_.host.proc().Exists(kCoreSchedSwitch)) {
    return SetSwitch(env_, name(), kCoreSchedSwitch, true);
  }
  if (FeatureText(env_.host) != kFeatureOff) return absl::OkStatus();
  env_.undo.Hold(kFeatureSetting, name(), "0");
  return env_.host.sys().Write(kSchedFeatures, kFeatureOn);
}

void CoreSched::PutBackSwitches() {
  PutBackSwitch(env_, name(), kCoreSchedSwitch);
  PutBackSwitch(env_, name(), kGroupIdentitySwitch);
  env_.undo.Release(kFeatureSetting, name(), [this](const std::string&) {
    const Status written = env_.host.sys().Write(kSchedFeatures, kFeatureOff);
    if (!written.ok()) env_.problems.Report({.object = "node", .kind = name()}, written);
    return written.ok();
  });
}

void CoreSched::Count(const HookContainer& container, const CookieBook::Change& change) {
  if (change.kind != CookieBook::Kind::kNone) {
    changes_
        .Touch({env_.options.node_name, change.group, change.status.ok() ? "succeeded" : "failed"})
        .Increment();
  }
  if (!change.status.ok()) {
    env_.problems.Report({.object = container.pod->key() + '/' + container.name, .kind = name()},
                         change.status);
  } else if (change.cookie != 0) {
    const HookPod& pod = *container.pod;
    cookies_
        .Touch({env_.options.node_name, pod.ns, pod.name, container.id, container.name, pod.uid,
                change.group, fmt::format("{}", change.cookie)})
        .Set(1);
  }
}

void CoreSched::Set(const HookContainer& container, const std::optional<std::string>& group) {
  const auto processes = env_.host.cgroups().ReadProcesses(container.dir);
  if (!processes.ok()) return;  // has ended
  Count(container, group ? book_.Join(container.dir, *group, *processes)
                         : book_.Leave(container.dir, *processes));
}

// What a koordlet before this one did.
void CoreSched::Adopt(std::span<const ReconciledPod> pods) {
  std::vector<const ReconciledPod*> by_age;
  for (const ReconciledPod& pod : pods) by_age.push_back(&pod);
  std::ranges::sort(by_age, {}, [](const ReconciledPod* pod) {
    return std::tuple(pod->pod.object->metadata.creation_timestamp, std::string_view(pod->pod.uid));
  });
  for (const ReconciledPod* pod : by_age) {
    if (pod->pod.label_qos == QosClass::kSystem) continue;
    const std::string group = GroupName(pod->pod);
    const auto adopt = [&](const HookContainer& container) {
      const auto processes = env_.host.cgroups().ReadProcesses(container.dir);
      if (processes.ok()) book_.Adopt(container.dir, group, *processes);
    };
    for (const HookContainer& container : pod->containers) adopt(container);
    if (pod->sandbox != nullptr) adopt(*pod->sandbox);
  }
}

void CoreSched::OnPass(std::span<const ReconciledPod> pods) {
  if (!rule_ || env_.options.dry_run || !env_.state.has_pods() || !IsSupported()) return;
  if (!has_adopted_) Adopt(pods);
  has_adopted_ = true;
  if (!rule_->is_enabled && book_.empty()) return PutBackSwitches();
  if (rule_->is_enabled) {
    const Status status = SwitchOn();
    if (!status.ok()) return env_.problems.Report({.object = "node", .kind = name()}, status);
  }
  for (const ReconciledPod& pod : pods) {
    if (pod.pod.label_qos == QosClass::kSystem) continue;
    const std::optional<std::string> group = GroupOf(pod.pod);
    if (pod.sandbox != nullptr) Set(*pod.sandbox, group);
    for (const HookContainer& container : pod.containers) Set(container, group);
  }
  book_.RemoveOld();
  cookies_.RemoveOld();
  changes_.RemoveOld();
  if (!rule_->is_enabled && book_.empty()) PutBackSwitches();
}

}  // namespace koord::koordlet::hooks
