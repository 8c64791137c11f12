#include "scheduler/plugins/default_binder/default_binder.h"

#include <memory>

#include "kube/resources.h"

namespace koord::scheduler {

void DefaultBinder::Bind(Attempt& attempt, VerdictDone done) {
  const kube::ObjectMeta& meta = attempt.pod->metadata;
  const kube::Json binding = {
      {"apiVersion", "v1"},
      {"kind", "Binding"},
      {"metadata", {{"namespace", meta.ns}, {"name", meta.name}, {"uid", meta.uid}}},
      {"target", {{"kind", "Node"}, {"name", attempt.node}}},
  };
  client_->CreateSubresource(kube::kPods, KeyOf(meta), "binding", binding,
                             [done = std::move(done)](const StatusOr<kube::Json>& answer) mutable {
                               done(answer.ok()
                                        ? Verdict::Success()
                                        : Verdict::Error(std::string(Message(answer.status()))));
                             });
}

}  // namespace koord::scheduler
