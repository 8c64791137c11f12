#include "koordlet/hooks/engine/class_qos.h"

namespace koord::koordlet::hooks {
namespace {

using api::QosClass;

const api::QosPolicies* PoliciesOf(const api::NodeSloSpec& slo) {
  if (!slo.resource_qos_strategy || !slo.resource_qos_strategy->policies) return nullptr;
  return &*slo.resource_qos_strategy->policies;
}

std::string_view TextOr(const std::optional<std::string>& text, std::string_view fallback) {
  return text && !text->empty() ? std::string_view(*text) : fallback;
}

}  // namespace

std::string_view CpuPolicyOf(const api::NodeSloSpec& slo) {
  const api::QosPolicies* policies = PoliciesOf(slo);
  return policies == nullptr ? "groupIdentity" : TextOr(policies->cpu_policy, "groupIdentity");
}

std::string_view NetworkPolicyOf(const api::NodeSloSpec& slo) {
  const api::QosPolicies* policies = PoliciesOf(slo);
  return policies == nullptr ? "tc" : TextOr(policies->net_qos_policy, "tc");
}

const api::ResourceQos* ClassQosOf(const api::NodeSloSpec& slo, QosClass qos) {
  if (!slo.resource_qos_strategy) return nullptr;
  const api::ResourceQosStrategy& strategy = *slo.resource_qos_strategy;
  const auto of = [](const std::optional<api::ResourceQos>& section) {
    return section ? &*section : nullptr;
  };
  switch (qos) {
    case QosClass::kLse:
    case QosClass::kLsr:
      return of(strategy.lsr_class);
    case QosClass::kLs:
      return of(strategy.ls_class);
    case QosClass::kBe:
      return of(strategy.be_class);
    case QosClass::kSystem:
      return of(strategy.system_class);
    case QosClass::kNone:
      break;
  }
  return nullptr;
}

const api::CpuQos* CpuQosOfClass(const api::NodeSloSpec& slo, QosClass qos) {
  const api::ResourceQos* section = ClassQosOf(slo, qos);
  return section != nullptr && section->cpu_qos ? &*section->cpu_qos : nullptr;
}

bool IsCpuQosEnabled(const api::NodeSloSpec& slo, QosClass qos) {
  const api::CpuQos* cpu = CpuQosOfClass(slo, qos);
  return cpu != nullptr && cpu->enable.value_or(false);
}

QosClass CpuClassOf(const api::NodeSloSpec& slo, QosClass label, kube::PodQos kube_qos) {
  if (label != QosClass::kNone && label != QosClass::kSystem) return label;
  switch (kube_qos) {
    case kube::PodQos::kGuaranteed:
      return IsCpuQosEnabled(slo, QosClass::kLsr) ? QosClass::kLsr : QosClass::kLs;
    case kube::PodQos::kBurstable:
      return QosClass::kLs;
    case kube::PodQos::kBestEffort:
      break;
  }
  return QosClass::kBe;
}

}  // namespace koord::koordlet::hooks
