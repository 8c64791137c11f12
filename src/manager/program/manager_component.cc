#include "manager/program/manager_component.h"

#include <fmt/format.h>

#include "base/version.h"

namespace koord::manager {

StatusOr<std::unique_ptr<component::Component>> ManagerComponent::Make(
    component::Environment& environment, const ManagerOptions& options,
    const MakeWebhooks& make_webhooks) {
  auto made = std::unique_ptr<ManagerComponent>(new ManagerComponent());
  kube::Client::Options client_options = environment.client_options;
  client_options.user_agent = fmt::format("koordinator-manager/{}", kVersion);
  client_options.may_write = [raw = made.get()] { return raw->leads(); };
  made->client_ = std::make_unique<kube::Client>(environment.loop, environment.transport,
                                                 std::move(client_options));
  ManagerApp::Options app_options = options.app();
  app_options.gates = environment.gates;
  app_options.seed = environment.seed;
  app_options.api = &environment.api;
  made->app_ = std::make_unique<ManagerApp>(*made->client_, std::move(app_options));
  if (make_webhooks && environment.gates.Enabled(kWebhookFramework)) {
    ASSIGN_OR_RETURN(made->webhooks_, make_webhooks(environment, *made->app_));
  }
  environment.api.readyz().Add("webhook-ready", [raw = made.get()] {
    return raw->webhooks_ != nullptr ? raw->webhooks_->Ready() : absl::OkStatus();
  });
  return made;
}

// Webhooks answer before the caches are full: a pod must not wait for a large cluster's lists.
void ManagerComponent::Start(Task ready) {
  if (webhooks_ != nullptr) webhooks_->Start();
  app_->Watch();
  app_->WhenSynced([ready = std::make_shared<Task>(std::move(ready))] { (*ready)(); });
}

void ManagerComponent::Lead(const component::Leadership& leadership) {
  leadership_ = &leadership;
  app_->Lead();
}

void ManagerComponent::Stop(Task done) {
  const auto shared = std::make_shared<Task>(std::move(done));
  app_->Stop([this, shared] {
    if (webhooks_ == nullptr) return (*shared)();
    webhooks_->Stop([shared] { (*shared)(); });
  });
}

}  // namespace koord::manager
