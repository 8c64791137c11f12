#include "scheduler/plugins/default_binder/default_binder.h"

#include <algorithm>
#include <memory>

#include "api/output_keys.h"
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

// A binding of an earlier attempt, whose answer was lost, may have come to the same node with other
// CPUs.
bool IsGivenTheSame(const kube::Json& pod, const Attempt& attempt) {
  return std::ranges::all_of(api::kOutputAnnotations, [&](std::string_view key) {
    const kube::Json* given = kube::Find(pod, {"metadata", "annotations", key});
    const std::string* decided = kube::FindValue(attempt.annotations, key);
    if (given == nullptr || decided == nullptr) return given == nullptr && decided == nullptr;
    return given->is_string() && std::string_view(given->get_string()) == *decided;
  });
}

bool IsBoundAs(const kube::Json& pod, const Attempt& attempt) {
  return kube::FindString(pod, {"metadata", "uid"}) == attempt.pod->metadata.uid &&
         kube::FindString(pod, {"spec", "nodeName"}) == attempt.node &&
         IsGivenTheSame(pod, attempt);
}

kube::Json BindingOf(const Attempt& attempt) {
  const kube::ObjectMeta& pod = attempt.pod->metadata;
  kube::json::object metadata{{"namespace", pod.ns}, {"name", pod.name}, {"uid", pod.uid}};
  if (!attempt.annotations.empty()) {
    kube::json::object annotations;
    for (const auto& [key, value] : attempt.annotations) annotations[key] = value;
    metadata["annotations"] = std::move(annotations);
  }
  return {{"apiVersion", "v1"},
          {"kind", "Binding"},
          {"metadata", std::move(metadata)},
          {"target", {{"kind", "Node"}, {"name", attempt.node}}}};
}

}  // namespace

void DefaultBinder::Bind(Attempt& attempt, VerdictDone done) {
  client_->CreateSubresource(kube::kPods, KeyOf(attempt.pod->metadata), BindingOf(attempt),
                             {.subresource = "binding", .ignore_answer = true},
                             scope_.Wrap([this, &attempt, done = std::move(done)](
                                             const StatusOr<kube::Json>& answer) mutable {
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
