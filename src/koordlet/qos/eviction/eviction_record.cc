#include "koordlet/qos/eviction/eviction_record.h"

#include <algorithm>
#include <utility>

namespace koord::koordlet {
namespace {

constexpr Duration kShownFor = std::chrono::minutes(5);

}  // namespace

EvictionRecord::EvictionRecord(EventLoop& loop, metrics::Registry& registry, Auditor* auditor,
                               std::string node_name)
    : loop_(loop),
      auditor_(auditor),
      node_name_(std::move(node_name)),
      evictions_(registry.AddCounters("koordlet_pod_eviction", "Pods that were evicted",
                                      {"node", "reason"})),
      details_(registry.AddCounters("koordlet_pod_eviction_detail",
                                    "Evictions of single pods in the last minutes",
                                    {"node", "pod_namespace", "pod_name", "reason"})),
      timer_(loop) {}

void EvictionRecord::Add(const kube::Pod& pod, std::string_view reason, std::string_view message) {
  const auto& meta = pod.metadata;
  ++total_;
  evictions_.With({node_name_, reason}).Increment();
  details_.With({node_name_, meta.ns, meta.name, reason}).Increment();
  std::erase_if(shown_, [&](const Shown& shown) {
    return shown.ns == meta.ns && shown.name == meta.name && shown.reason == reason;
  });
  shown_.push_back({meta.ns, meta.name, std::string(reason), loop_.clock().Steady() + kShownFor});
  if (!timer_.pending()) timer_.Set(kShownFor, [this] { RemoveOld(); });
  if (auditor_ == nullptr) return;
  auditor_->Log({.type = AuditEvent::Type::kPod,
                 .level = 0,
                 .ns = meta.ns,
                 .name = meta.name,
                 .container = {},
                 .reason = std::string(reason),
                 .message = std::string(message)});
}

void EvictionRecord::RemoveOld() {
  const SteadyTime now = loop_.clock().Steady();
  while (!shown_.empty() && shown_.front().until <= now) {
    const Shown& old = shown_.front();
    details_.Remove({node_name_, old.ns, old.name, old.reason});
    shown_.pop_front();
  }
  if (!shown_.empty()) timer_.Set(shown_.front().until - now, [this] { RemoveOld(); });
}

}  // namespace koord::koordlet
