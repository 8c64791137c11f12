#include "localcluster/assembly/local_manager.h"

#include <utility>

#include "base/log.h"
#include "kube/transport/in_process_transport.h"
#include "manager/program/manager_options.h"
#include "manager/webhook/server/webhook_options.h"

namespace koord::localcluster {

using manager::webhook::WebhookServer;

StatusOr<std::unique_ptr<LocalManager>> LocalManager::Make(kube::Client& client,
                                                           program::ComponentApi& api,
                                                           const Options& options) {
  ASSIGN_OR_RETURN(manager::ManagerPlan plan, manager::PlanManager(options.flags));
  for (const std::string& sentence : plan.without_effect) LOG_WARNING(sentence);
  api.AddSettingProblems(plan.without_effect);
  plan.app.webhooks = plan.app.webhooks && options.webhooks;
  plan.app.seed = options.seed;
  plan.app.lender = options.lender;
  plan.app.api = &api;
  const bool webhooks = plan.app.webhooks;
  std::unique_ptr<LocalManager> made(new LocalManager(client, std::move(plan.app)));
  if (!webhooks) return made;
  WebhookServer::Options& server = plan.webhooks;
  server.seed = options.seed;
  server.sockets = options.sockets;
  server.address = "127.0.0.1";
  server.port = 0;
  if (options.sockets != nullptr) {
    const bool charges = server.handler.features.enable_quota_admission;
    if (charges && server.client_ca.empty()) server.client_ca = options.client_ca;
    RETURN_IF_ERROR(manager::webhook::CheckCallers(server));
  }
  server.on_late_start = [raw = made.get()](const Status&) { raw->OnReady(); };
  if (options.trust_admin) {
    auto& schedulers = server.handler.trust.schedulers;
    schedulers.insert(schedulers.end(),
                      {"kubernetes-admin", kube::InProcessTransport::Admin().name});
  }
  made->registration_ = server.certificates;
  made->has_sockets_ = options.sockets != nullptr;
  made->knows_callers_ = !server.client_ca.empty();
  made->webhooks_ = std::make_unique<WebhookServer>(
      manager::webhook::InformerView::Inputs{client, made->app_.informers()}, api.metrics(),
      std::move(server));
  return made;
}

void LocalManager::Start(Task ready) {
  ready_ = std::move(ready);
  if (webhooks_ != nullptr) webhooks_->Start([this] { OnReady(); });
  app_.Watch();
  app_.Lead();
  if (webhooks_ == nullptr) OnReady();
}

void LocalManager::Stop() {
  if (webhooks_ != nullptr) webhooks_->Stop([] {});
}

bool LocalManager::ready() const {
  return app_.synced() && (webhooks_ == nullptr || webhooks_->Ready().ok());
}

StatusOr<apiserver::Endpoint> LocalManager::Resolve(
    const apiserver::ServiceReference& service) const {
  if (!IsOurs(service)) return NotFound("not a service of this manager");
  if (!has_sockets_) return apiserver::Endpoint{"in-process", service.port};
  if (webhooks_->port() == 0) return Unavailable("koord-manager does not listen yet");
  return apiserver::Endpoint{"127.0.0.1", webhooks_->port()};
}

bool LocalManager::IsNeedless(const apiserver::ServiceReference& service, std::string_view path,
                              const apiserver::AdmissionRequest& request) const {
  return IsOurs(service) &&
         webhooks_->IsNeedless(path, request.ns, request.object, request.old_object);
}

std::shared_ptr<kube::Transport> LocalManager::DirectTransport(
    const apiserver::WebhookTarget& target) {
  const bool ours = webhooks_ != nullptr && target.server_name == registration_.server_name();
  if (!ours) return nullptr;
  const bool would_be_accepted = !knows_callers_ && target.ca_bundle == webhooks_->ca_bundle();
  if (has_sockets_ && !would_be_accepted) return nullptr;
  return std::make_shared<kube::InProcessTransport>(client_.loop(), webhooks_->handler());
}

}  // namespace koord::localcluster
