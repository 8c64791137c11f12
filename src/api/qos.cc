#include "api/qos.h"

#include "api/keys.h"
#include "kube/objects/pod_resources.h"

namespace koord::api {

std::string_view ToString(QosClass qos) {
  switch (qos) {
    case QosClass::kNone:
      return "";
    case QosClass::kLse:
      return "LSE";
    case QosClass::kLsr:
      return "LSR";
    case QosClass::kLs:
      return "LS";
    case QosClass::kBe:
      return "BE";
    case QosClass::kSystem:
      return "SYSTEM";
  }
  return "";
}

QosClass ParseQosClass(std::string_view text) {
  for (const QosClass qos :
       {QosClass::kLse, QosClass::kLsr, QosClass::kLs, QosClass::kBe, QosClass::kSystem}) {
    if (text == ToString(qos)) return qos;
  }
  return QosClass::kNone;
}

QosClass RawQosClass(const kube::Labels& pod_labels) {
  return ParseQosClass(kube::ValueOf(pod_labels, kLabelQosClass));
}

QosClass QosClassOf(const kube::Pod& pod) {
  if (const QosClass raw = RawQosClass(pod.metadata.labels); raw != QosClass::kNone) return raw;
  switch (kube::PodQosOf(pod)) {
    case kube::PodQos::kGuaranteed:
      return QosClass::kLsr;
    case kube::PodQos::kBurstable:
      return QosClass::kLs;
    case kube::PodQos::kBestEffort:
      return QosClass::kBe;
  }
  return QosClass::kNone;
}

}  // namespace koord::api
