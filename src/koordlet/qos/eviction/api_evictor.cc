#include "koordlet/qos/eviction/api_evictor.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"

namespace koord::koordlet {
namespace {

constexpr Duration kRemembered = std::chrono::minutes(2);
constexpr Duration kRefusalHolds = std::chrono::seconds(10);
// Without an answer by then, others are tried. A budget makes the client ask for a long time.
constexpr Duration kPatience = std::chrono::seconds(5);

}  // namespace

ApiEvictor::ApiEvictor(kube::Client& client, kube::EventRecorder& events, EvictionRecord& record)
    : client_(client), events_(events), record_(record), clock_(client.loop().clock()) {}

PodEvictor::Result ApiEvictor::Evict(const NodePod& pod, std::string_view reason,
                                     std::string_view message) {
  ForgetOld();
  const auto known = asked_.find(pod.uid());
  if (known != asked_.end()) return {.ok = !Stays(known->second), .is_new = false};
  asked_.emplace(pod.uid(), Asked{.since = clock_.Steady()});
  Ask(pod.pod, std::string(reason), std::string(message));
  return {.ok = true, .is_new = true};
}

bool ApiEvictor::WasRefused(std::string_view uid) const {
  const auto known = asked_.find(uid);
  return known != asked_.end() && Stays(known->second);
}

bool ApiEvictor::Stays(const Asked& asked) const {
  return asked.answer == Answer::kStays ||
         (asked.answer == Answer::kNone && clock_.Steady() - asked.since >= kPatience);
}

void ApiEvictor::ForgetOld() {
  const SteadyTime now = clock_.Steady();
  absl::erase_if(asked_, [now](const auto& entry) {
    const Asked& asked = entry.second;
    if (asked.answer == Answer::kNone) return false;  // the client always answers
    return now - asked.since >= (asked.answer == Answer::kGoes ? kRemembered : kRefusalHolds);
  });
}

void ApiEvictor::Ask(std::shared_ptr<const kube::Pod> pod, std::string reason,
                     std::string message) {
  kube::EvictPod(client_, pod->metadata, {},
                 scope_.Wrap([this, pod, reason = std::move(reason),
                              message = std::move(message)](const kube::EvictionResult& result) {
                   Hear(*pod, reason, message, result);
                 }));
}

void ApiEvictor::Hear(const kube::Pod& pod, const std::string& reason, const std::string& message,
                      const kube::EvictionResult& result) {
  const auto& meta = pod.metadata;
  const Status& status = result.status;
  asked_[meta.uid] = {.answer = result.leaves() ? Answer::kGoes : Answer::kStays,
                      .since = clock_.Steady()};
  if (result.answer == kube::EvictionAnswer::kGone) return;  // nobody is left to evict
  std::string text =
      fmt::format("evict Pod:{}/{}, reason: {}, message: {}", meta.ns, meta.name, reason, message);
  if (status.ok()) {
    LOG_INFO("Evicted pod", {"pod", fmt::format("{}/{}", meta.ns, meta.name)},
             {"message", message});
    record_.Add(pod, reason, message);
    Tell(pod, "evictPodSuccess", std::move(text));
    return;
  }
  LOG_WARNING("Failed to evict pod", {"pod", fmt::format("{}/{}", meta.ns, meta.name)},
              {"err", status});
  Tell(pod, "evictPodFail", fmt::format("{}, error {}", text, Message(status)));
}

void ApiEvictor::Tell(const kube::Pod& pod, std::string_view event_reason, std::string text) {
  const auto& meta = pod.metadata;
  events_.Record({.regarding = {.kind = "Pod",
                                .ns = meta.ns,
                                .name = meta.name,
                                .uid = meta.uid,
                                .api_version = "v1",
                                .resource_version = meta.resource_version,
                                .field_path = {}},
                  .type = "Warning",
                  .reason = std::string(event_reason),
                  .message = std::move(text)});
}

}  // namespace koord::koordlet
