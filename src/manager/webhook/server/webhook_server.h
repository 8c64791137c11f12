#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/asio_loop.h"
#include "base/event_loop.h"
#include "base/metrics/metrics.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/serving/http_server.h"
#include "manager/quota/quota_evaluator.h"
#include "manager/webhook/certificates/certificate_keeper.h"
#include "manager/webhook/server/informer_view.h"
#include "manager/webhook/server/webhook_handler.h"

namespace koord::manager::webhook {

// Anybody in the cluster can reach the port: how much they may make it hold.
kube::SessionOptions WebhookSessionOptions();

// All webhooks of koord-manager: watches what they need to know, makes and renews certificates,
// keeps the cluster's webhook configurations in step, and answers over HTTPS. Runs on every
// replica.
class WebhookServer {
 public:
  struct Options {
    HandlerOptions handler;
    QuotaEvaluator::Options evaluation;
    CertificateOptions certificates;
    kube::ObjectKey enhanced_config{"koordinator-system", "pod-enhanced-validator-config"};
    uint64_t seed = 1;

    // Null: no port is opened, and callers use handler() in this process.
    AsioLoop* sockets = nullptr;
    std::string address = "0.0.0.0";
    uint16_t port = 9876;  // 0: any that is free
    kube::SessionOptions session = WebhookSessionOptions();
    std::string client_ca;  // PEM; if set, callers must show a certificate of it

    // Called when all is not in order 20 seconds after Start: as a program, better to end.
    std::function<void(Status)> on_late_start = {};
  };

  // `inputs.client` must be allowed to write although this replica does not lead. The informers of
  // `inputs` are started by their owner, after this is made.
  WebhookServer(const InformerView::Inputs& inputs, metrics::Registry& metrics, Options options);
  ~WebhookServer();

  // `ready` runs once webhooks are answered and registered.
  void Start(Task ready);
  // Answers what is under way, for less than a second.
  void Stop(Task done);

  // For /readyz, as check `webhook-ready`.
  Status Ready() const;
  uint16_t port() const;  // 0 while it does not listen

  kube::HttpHandler& handler() { return handler_; }
  // The quotas as webhooks see them.
  kube::Json Quotas() { return view_.quotas().ToJson(); }
  // Whether the webhook at this path would surely let the object pass as it is.
  bool IsNeedless(std::string_view path, std::string_view ns, const kube::Json& object,
                  const kube::Json& old_object) const;
  // PEM of the authority that callers have to trust; empty while there is none.
  const std::string& ca_bundle() const { return ca_bundle_; }

 private:
  Status Show(const CertificateSet& set);
  Status Listen(const kube::TlsIdentity& identity);

  kube::Client& client_;
  Options options_;
  InformerView view_;
  QuotaEvaluator evaluator_;
  WebhookHandler handler_;
  CertificateKeeper certificates_;
  std::unique_ptr<kube::HttpServer> server_;
  std::string ca_bundle_;
  Timer start_deadline_;
  Scope scope_;
};

}  // namespace koord::manager::webhook
