#include "scheduler/binding/pod_patcher.h"

#include "kube/api_error.h"
#include "scheduler/framework/stale_outputs.h"

namespace koord::scheduler {
namespace {

constexpr int kAttempts = 4;
constexpr Duration kFirstPause = 10ms;
constexpr int kPauseFactor = 5;
constexpr double kJitter = 0.1;

// What of `wanted` a pod does not have yet.
kube::json::object Changed(const kube::Labels& wanted, const kube::Labels& known) {
  kube::json::object changed;
  for (const auto& [key, value] : wanted) {
    const std::string* before = kube::FindValue(known, key);
    if (before == nullptr || *before != value) changed[key] = value;
  }
  return changed;
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
  std::shared_ptr<const kube::Pod> pod;
  kube::json::object metadata;
  VerdictDone done;
  int attempts = 0;
  Duration pause = kFirstPause;
};

PodPatcher::PodPatcher(EventLoop& loop, ObjectWriters& writers, uint64_t seed)
    : loop_(loop), writers_(writers), random_(seed) {}

void PodPatcher::Patch(const Attempt& attempt, Annotations annotations, VerdictDone done) {
  const kube::ObjectMeta& pod = attempt.pod->metadata;
  kube::json::object labels = Changed(attempt.labels, pod.labels.get());
  kube::json::object annotated;
  if (annotations == Annotations::kNow) annotated = Changed(attempt.annotations, pod.annotations);
  for (const std::string_view key : StaleOutputsOf(attempt)) annotated[key] = nullptr;
  if (labels.empty() && annotated.empty()) return done(Verdict::Success());
  kube::json::object metadata;
  if (!labels.empty()) metadata["labels"] = std::move(labels);
  if (!annotated.empty()) metadata["annotations"] = std::move(annotated);
  Send(std::make_shared<Sending>(Sending{attempt.pod, std::move(metadata), std::move(done)}));
}

void PodPatcher::Send(std::shared_ptr<Sending> sending) {
  ++sending->attempts;
  writers_.For(*sending->pod)
      .PatchMetadata(
          *sending->pod, sending->metadata, [this, sending](const StatusOr<kube::Json>& answer) {
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
