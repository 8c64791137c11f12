#include "scheduler/plugins/default_binder/default_binder.h"

#include <memory>

#include "kube/api_error.h"
#include "kube/resources.h"

namespace koord::scheduler {
namespace {

constexpr Duration kPause = 1s;

// Whether a binding that was answered like this may be in effect nevertheless: the answer was lost
// or is that to a repetition, or the server gave up half-way.
bool MayHaveHappened(const Status& error) {
  if (kube::WasNotSent(error)) return false;
  const int code = kube::HttpCode(error);
  return code == 0 || code == 409 || code >= 500;
}

bool IsBoundAs(const kube::Json& pod, const Attempt& attempt) {
  return kube::FindString(pod, {"metadata", "uid"}) == attempt.pod->metadata.uid &&
         kube::FindString(pod, {"spec", "nodeName"}) == attempt.node;
}

}  // namespace

void DefaultBinder::Bind(Attempt& attempt, VerdictDone done) {
  const kube::ObjectMeta& meta = attempt.pod->metadata;
  const kube::Json binding = {
      {"apiVersion", "v1"},
      {"kind", "Binding"},
      {"metadata", {{"namespace", meta.ns}, {"name", meta.name}, {"uid", meta.uid}}},
      {"target", {{"kind", "Node"}, {"name", attempt.node}}},
  };
  client_->CreateSubresource(
      kube::kPods, KeyOf(meta), binding, {.subresource = "binding", .ignore_answer = true},
      scope_.Wrap(
          [this, &attempt, done = std::move(done)](const StatusOr<kube::Json>& answer) mutable {
            if (answer.ok()) return done(Verdict::Success());
            if (MayHaveHappened(answer.status())) {
              return Settle(attempt, answer.status(), std::move(done));
            }
            done(Verdict::Error(std::string(Message(answer.status()))));
          }));
}

void DefaultBinder::Settle(const Attempt& attempt, Status error, VerdictDone done) {
  client_->Get(kube::kPods, KeyOf(attempt.pod->metadata),
               scope_.Wrap([this, &attempt, error = std::move(error),
                            done = std::move(done)](const StatusOr<kube::Json>& pod) mutable {
                 if (pod.ok() && IsBoundAs(*pod, attempt)) return done(Verdict::Success());
                 if (pod.ok() || kube::IsNotFound(pod.status())) {
                   return done(Verdict::Error(std::string(Message(error))));
                 }
                 loop_.Schedule(kPause, scope_.Wrap([this, &attempt, error = std::move(error),
                                                     done = std::move(done)]() mutable {
                   Settle(attempt, std::move(error), std::move(done));
                 }));
               }));
}

}  // namespace koord::scheduler
