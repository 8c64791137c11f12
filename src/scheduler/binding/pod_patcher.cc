#include "scheduler/binding/pod_patcher.h"

#include "kube/api_error.h"
#include "kube/resources.h"

namespace koord::scheduler {
namespace {

constexpr int kAttempts = 4;
constexpr Duration kFirstPause = 10ms;
constexpr int kPauseFactor = 5;
constexpr double kJitter = 0.1;

kube::Json Strings(const kube::Labels& pairs) {
  kube::json::object object;
  for (const auto& [key, value] : pairs) object[key] = value;
  return object;
}

bool IsWorthAnother(const Status& status) {
  return kube::IsConflict(status) || kube::IsTooManyRequests(status) || absl::IsUnavailable(status);
}

Verdict VerdictOf(const StatusOr<kube::Json>& answer) {
  if (!answer.ok()) return Verdict::Error(std::string(Message(answer.status())));
  if (kube::Find(*answer, {"metadata", "deletionTimestamp"}) != nullptr) {
    return Verdict::Error("pod is being deleted");
  }
  return Verdict::Success();
}

}  // namespace

struct PodPatcher::Sending {
  kube::ObjectKey key;
  kube::Json patch;
  VerdictDone done;
  int attempts = 0;
  Duration pause = kFirstPause;
};

PodPatcher::PodPatcher(EventLoop& loop, kube::Client& client, uint64_t seed)
    : loop_(loop), client_(client), random_(seed) {}

void PodPatcher::Patch(const Attempt& attempt, VerdictDone done) {
  kube::json::object metadata;
  const kube::ObjectMeta& pod = attempt.pod->metadata;
  for (const auto& [name, edits, now] :
       {std::tuple{"labels", &attempt.labels, &pod.labels.get()},
        std::tuple{"annotations", &attempt.annotations, &pod.annotations}}) {
    kube::Labels changed;
    for (const auto& [key, value] : *edits) {
      const std::string* before = kube::FindValue(*now, key);
      if (before == nullptr || *before != value) changed.emplace(key, value);
    }
    if (!changed.empty()) metadata[name] = Strings(changed);
  }
  if (metadata.empty()) return done(Verdict::Success());
  metadata["uid"] = pod.uid;
  Send(std::make_shared<Sending>(
      Sending{KeyOf(pod), kube::json::object{{"metadata", std::move(metadata)}}, std::move(done)}));
}

void PodPatcher::Send(std::shared_ptr<Sending> sending) {
  ++sending->attempts;
  client_.Patch(
      kube::kPods, sending->key, kube::PatchType::kStrategic, sending->patch, {},
      [this, sending](const StatusOr<kube::Json>& answer) {
        if (answer.ok() || sending->attempts == kAttempts || !IsWorthAnother(answer.status())) {
          return sending->done(VerdictOf(answer));
        }
        const auto jitter = static_cast<double>(sending->pause.count()) * kJitter;
        const Duration pause =
            sending->pause + Duration(static_cast<int64_t>(jitter * random_.Fraction()));
        sending->pause *= kPauseFactor;
        loop_.Schedule(pause, scope_.Wrap([this, sending] { Send(sending); }));
      });
}

}  // namespace koord::scheduler
