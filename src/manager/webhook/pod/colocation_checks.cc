#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/priority.h"
#include "api/qos.h"
#include "kube/objects/pod_resources.h"
#include "manager/webhook/pod/pod_validating.h"

namespace koord::manager::webhook {
namespace {

using api::PriorityBand;
using api::QosClass;
using kube::Pod;

constexpr std::string_view kRequests = "pod.spec.containers[*].resources.requests";
constexpr std::string_view kImmutable = "field is immutable";

const std::string& QosField() {
  static const std::string field = fmt::format("labels.{}", api::kLabelQosClass);
  return field;
}

void CheckWholeCpus(const kube::ResourceList& requests, FieldErrors& errors) {
  const kube::Quantity cpu = kube::AmountOf(requests, kube::kCpu);
  if (cpu.IsZero()) {
    errors.Required(kRequests, "LSR Pod must declare the requested CPUs");
  } else if (cpu.MilliValue() % 1000 != 0) {
    errors.Invalid(kRequests, cpu.ToString(), "the requested CPUs of LSR Pod must be integer");
  }
}

}  // namespace

void CheckImmutable(const Pod& pod, const Pod& old, const Features& features, FieldErrors& errors) {
  const QosClass qos = api::RawQosClass(pod.metadata.labels);
  if (qos != api::RawQosClass(old.metadata.labels)) {
    errors.Invalid(QosField(), api::ToString(qos), kImmutable);
  }
  const PriorityBand band = api::RawPriorityBand(pod);
  if (band != api::RawPriorityBand(old)) {
    errors.Invalid("spec.priority", api::ToString(band), kImmutable);
  }
  const std::string_view priority = kube::ValueOf(pod.metadata.labels, api::kLabelPriority);
  if (!features.colocation_profile_skip_validating_priority &&
      priority != kube::ValueOf(old.metadata.labels, api::kLabelPriority)) {
    errors.Invalid(fmt::format("labels.{}", api::kLabelPriority), priority, kImmutable);
  }
}

Status CheckColocation(const Pod& pod, const Pod* old, const Features& features) {
  FieldErrors errors;
  if (old != nullptr) CheckImmutable(pod, *old, features, errors);

  const QosClass qos = api::RawQosClass(pod.metadata.labels);
  const PriorityBand band = api::RawPriorityBand(pod);
  const kube::ResourceList requests = kube::PodRequests(pod);
  const bool asks_for_batch = !kube::AmountOf(requests, api::kBatchCpu).IsZero() ||
                              !kube::AmountOf(requests, api::kBatchMemory).IsZero();
  if (asks_for_batch && qos != QosClass::kBe) {
    errors.Required(QosField(),
                    "must specify koordinator QoS BE with koordinator colocation resources");
  }
  if (!api::MayCombine(qos, band)) {
    errors.Forbidden("Pod",
                     fmt::format("{}={} and priorityClass={} cannot be used in combination",
                                 api::kLabelQosClass, api::ToString(qos), api::ToString(band)));
  }
  if (qos == QosClass::kLsr || qos == QosClass::kLse) CheckWholeCpus(requests, errors);
  return errors.empty() ? absl::OkStatus() : absl::InvalidArgumentError(errors.ToString());
}

}  // namespace koord::manager::webhook
