#include "manager/webhook/server/webhook_server.h"

#include <utility>

#include "base/log.h"
#include "manager/webhook/pod/plain_pod.h"

namespace koord::manager::webhook {
namespace {

// A review holds an object as it is and as it was.
constexpr size_t kReviewBytes = size_t{7} * 1024 * 1024;
constexpr Duration kStartDeadline = std::chrono::seconds(20);

InformerView::Options ViewOptions(const WebhookServer::Options& options) {
  const Features& features = options.handler.features;
  InformerView::Options view;
  view.slo_config = options.handler.slo_config;
  if (features.enable_pod_enhanced_validator) view.enhanced_config = options.enhanced_config;
  view.quota_rules = {.update_resource_key = features.elastic_quota_enable_update_resource_key,
                      .guarantee_usage = features.elastic_quota_guarantee_usage};
  view.seed = options.seed;
  return view;
}

// Sockets and handshakes take their time, however fast that of the cluster passes.
EventLoop& RealLoop(const WebhookServer::Options& options, EventLoop& loop) {
  return options.sockets != nullptr ? *options.sockets : loop;
}

WebhookServer::Options Completed(WebhookServer::Options options) {
  options.handler.require_client_certificate = !options.client_ca.empty();
  options.handler.seed = options.seed;
  options.evaluation.seed = options.seed;
  if (options.sockets != nullptr) options.certificates.clock = &options.sockets->clock();
  return options;
}

}  // namespace

kube::SessionOptions WebhookSessionOptions() {
  kube::SessionOptions options;
  options.request.body_bytes = kReviewBytes;
  options.body_budget = size_t{32} * 1024 * 1024;
  options.body_timeout = 30s;  // no API server waits any longer for an answer
  options.max_connections = 1024;
  return options;
}

WebhookServer::WebhookServer(const InformerView::Inputs& inputs, metrics::Registry& metrics,
                             Options options)
    : client_(inputs.client),
      options_(Completed(std::move(options))),
      view_(inputs, ViewOptions(options_)),
      evaluator_(
          inputs.client, [this](std::string_view name) { return view_.QuotasNamed(name); },
          options_.evaluation),
      handler_({.view = view_,
                .clock = inputs.client.loop().clock(),
                .metrics = metrics,
                .evaluator = &evaluator_,
                .is_ready = [this] { return view_.synced(); },
                .know_namespace =
                    [this](const std::string& ns, std::function<void()> then) {
                      view_.KnowNamespace(ns, std::move(then));
                    }},
               options_.handler),
      certificates_(inputs.client, options_.certificates, handler_.paths(),
                    [this](const CertificateSet& set) { return Show(set); }),
      start_deadline_(RealLoop(options_, inputs.client.loop())) {
  if (!options_.handler.features.enable_quota_admission) return;
  inputs.informers.pods.AddHandler(scope_.Wrap([this](const auto&, const auto& after) {
    if (after != nullptr) evaluator_.Observed(kube::KeyOf(after->metadata).ToString());
  }));
}

WebhookServer::~WebhookServer() = default;

void WebhookServer::Start(Task ready) {
  auto call = std::make_shared<Task>(std::move(ready));
  view_.Start();
  // Registered only when reviews can be answered: nobody is called in vain.
  view_.WhenSynced(scope_.Wrap([this, call] {
    certificates_.WhenSynced(scope_.Wrap([this, call] {
      start_deadline_.Cancel();
      if (*call) std::exchange(*call, nullptr)();
    }));
    certificates_.Start();
    // Counted from here: a program that ends for want of an API server is not back any sooner.
    start_deadline_.Set(kStartDeadline, [this] {
      const Status status = Ready();
      LOG_ERROR("Webhooks are late", {"err", status});
      if (options_.on_late_start) options_.on_late_start(status);
    });
  }));
}

void WebhookServer::Stop(Task done) {
  start_deadline_.Cancel();
  certificates_.Stop();
  view_.Stop();
  if (server_ != nullptr) return server_->Stop(std::move(done));
  client_.loop().Post(std::move(done));
}

Status WebhookServer::Ready() const {
  if (!view_.synced()) return Unavailable("the cluster's objects are still being listed");
  if (!certificates_.synced()) return certificates_.last_error();
  if (options_.sockets != nullptr && server_ == nullptr) return Unavailable("no port is open");
  return absl::OkStatus();
}

bool WebhookServer::IsNeedless(std::string_view path, std::string_view ns, const kube::Json& object,
                               const kube::Json& old_object) const {
  const Features& features = options_.handler.features;
  if (!view_.synced()) return false;
  if (path == kMutatePodPath) return NothingToMutate(object, ns, view_, features);
  if (path == kValidatePodPath) {
    return NothingToValidate(object, old_object, ns, view_, features);
  }
  if (path == kValidatePodKeysPath) return NothingToGuard(object, old_object);
  return false;
}

uint16_t WebhookServer::port() const { return server_ == nullptr ? 0 : server_->port(); }

Status WebhookServer::Show(const CertificateSet& set) {
  ca_bundle_ = set.ca_bundle;
  if (options_.sockets == nullptr) return absl::OkStatus();
  const kube::TlsIdentity identity{
      .certificate = set.certificate, .key = set.key, .client_ca = options_.client_ca};
  return server_ != nullptr ? server_->SetTls(identity) : Listen(identity);
}

Status WebhookServer::Listen(const kube::TlsIdentity& identity) {
  kube::HttpServer::Options options;
  options.address = options_.address;
  options.port = options_.port;
  options.allow_remote = true;
  options.any_host = true;  // callers use the service's name or a pod's address
  options.tls = identity;
  options.gate = &handler_;
  options.session = options_.session;
  ASSIGN_OR_RETURN(server_, kube::HttpServer::Start(*options_.sockets, options, handler_));
  LOG_INFO("Serving webhooks", {"url", server_->url()});
  return absl::OkStatus();
}

}  // namespace koord::manager::webhook
