#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/asio_loop.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "localcluster/apiserver/admission/webhooks.h"
#include "manager/program/manager_app.h"
#include "manager/webhook/server/webhook_server.h"
#include "program/component_api.h"

namespace koord::localcluster {

// Where a client of the API server reaches it, by the service's proxy.
inline const kube::ObjectKey kManagerService{"koordinator-system", "koord-manager"};

// koord-manager inside the local cluster: the only one, so that it need not be elected. The API
// server hands its webhooks their requests directly, since both are in one process, wherever HTTPS
// would reach and accept them. Where it would not, or where callers have to show who they are, it
// calls them over HTTPS, as on Kubernetes.
class LocalManager {
 public:
  struct Options {
    std::vector<std::string> flags;  // as on the command line of koord-manager
    bool webhooks = true;
    bool trust_admin = false;  // whoever has the admin's kubeconfig may act as the scheduler
    uint64_t seed = 1;
    kube::InformerSet* lender = nullptr;  // the cluster's own copies, which the manager uses too
    AsioLoop* sockets = nullptr;
    // Of the certificate that the API server shows; used where callers have to be known.
    std::string client_ca;
  };

  static StatusOr<std::unique_ptr<LocalManager>> Make(kube::Client& client,
                                                      program::ComponentApi& api,
                                                      const Options& options);

  // `ready` runs once webhooks are answered, or after 20 seconds of failing to.
  void Start(Task ready);
  void Stop();
  // Knows the whole cluster, and webhooks are answered.
  bool ready() const;
  bool quiet() const { return ready() && app_.quiet(); }
  bool has_webhooks() const { return webhooks_ != nullptr; }
  kube::InformerSet& informers() { return app_.informers(); }

  // Where the service of the webhooks is; NotFound for others.
  StatusOr<apiserver::Endpoint> Resolve(const apiserver::ServiceReference& service) const;
  // Whether they would surely let the request pass as it is.
  bool IsNeedless(const apiserver::ServiceReference& service, std::string_view path,
                  const apiserver::AdmissionRequest& request) const;
  // A way to the webhooks that needs no socket; null if there is none, or for others.
  std::shared_ptr<kube::Transport> DirectTransport(const apiserver::WebhookTarget& target);

 private:
  bool IsOurs(const apiserver::ServiceReference& service) const {
    return webhooks_ != nullptr && service.ns == registration_.ns &&
           service.name == registration_.service_name;
  }

  void OnReady() {
    if (ready_) std::exchange(ready_, nullptr)();
  }

  LocalManager(kube::Client& client, manager::ManagerApp::Options options)
      : client_(client), app_(client, std::move(options)) {}

  kube::Client& client_;
  manager::ManagerApp app_;
  manager::webhook::CertificateOptions registration_;
  bool has_sockets_ = false;
  bool knows_callers_ = false;  // they have to show a certificate
  std::unique_ptr<manager::webhook::WebhookServer> webhooks_;
  Task ready_;
};

}  // namespace koord::localcluster
