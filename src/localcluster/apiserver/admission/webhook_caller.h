#pragma once
#include <absl/functional/any_invocable.h>

#include <map>
#include <memory>
#include <string>

#include "base/random.h"
#include "base/scope.h"
#include "localcluster/apiserver/admission/admission_review.h"
#include "localcluster/apiserver/admission/webhook.h"

namespace koord::apiserver {

// Sends reviews to webhooks and reads their answers.
class WebhookCaller {
 public:
  using Done = absl::AnyInvocable<void(StatusOr<ReviewAnswer>)>;

  WebhookCaller(WebhookEnvironment& environment, uint64_t seed)
      : environment_(environment), random_(seed) {}

  // An error means that no proper answer came; its message says why. `done` may run inside the
  // call.
  void Call(const Webhook& webhook, const AdmissionRequest& request, const kube::Resource& resource,
            bool mutating, Done done);

  // Connections to servers that nobody refers to any more are not kept.
  void ForgetTransports() { transports_.clear(); }

 private:
  StatusOr<WebhookTarget> Resolve(const Webhook& webhook) const;
  StatusOr<std::shared_ptr<kube::Transport>> TransportTo(const WebhookTarget& target);

  WebhookEnvironment& environment_;
  Random random_;
  std::map<WebhookTarget, std::shared_ptr<kube::Transport>> transports_;
  Scope scope_;
};

}  // namespace koord::apiserver
