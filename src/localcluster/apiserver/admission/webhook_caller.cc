#include "localcluster/apiserver/admission/webhook_caller.h"

#include <utility>

#include "base/uuid.h"

namespace koord::apiserver {
namespace {

// Endpoints come and go; beyond this many the connections start afresh.
constexpr size_t kMaxTransports = 64;

// `/path?timeout=10s`
std::string TargetOf(const Webhook& webhook) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(webhook.timeout).count();
  const char separator = webhook.path.find('?') == std::string::npos ? '?' : '&';
  return fmt::format("{}{}timeout={}s", webhook.path, separator, seconds);
}

std::string HostHeader(const WebhookTarget& target) {
  const bool v6 = target.server_name.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(v6 ? "[{}]:{}" : "{}:{}"), target.server_name, target.port);
}

std::string_view Explain(const Status& status) {
  return status.code() == absl::StatusCode::kDeadlineExceeded ? "context deadline exceeded"
                                                              : Message(status);
}

}  // namespace

StatusOr<WebhookTarget> WebhookCaller::Resolve(const Webhook& webhook) const {
  if (!webhook.service) {
    return WebhookTarget{webhook.host, webhook.port, webhook.host, webhook.ca_bundle};
  }
  const ServiceReference& service = *webhook.service;
  if (environment_.resolve == nullptr) {
    return Unavailable("service {}/{} cannot be resolved: this server knows of no services",
                       service.ns, service.name);
  }
  ASSIGN_OR_RETURN(Endpoint endpoint, environment_.resolve(service));
  return WebhookTarget{std::move(endpoint.host), endpoint.port,
                       fmt::format("{}.{}.svc", service.name, service.ns), webhook.ca_bundle};
}

StatusOr<std::shared_ptr<kube::Transport>> WebhookCaller::TransportTo(const WebhookTarget& target) {
  const auto known = transports_.find(target);
  if (known != transports_.end()) return known->second;
  if (environment_.transport == nullptr) {
    return Unavailable("this server has no way to call webhooks");
  }
  ASSIGN_OR_RETURN(auto transport, environment_.transport(target));
  if (transports_.size() >= kMaxTransports) transports_.clear();
  transports_.emplace(target, transport);
  return transport;
}

void WebhookCaller::Call(const Webhook& webhook, const AdmissionRequest& request,
                         const kube::Resource& resource, bool mutating, Done done) {
  const auto target = Resolve(webhook);
  if (!target.ok()) return done(target.status());
  const auto transport = TransportTo(*target);
  if (!transport.ok()) return done(transport.status());

  ReviewForm form{NewUuid(random_), webhook.beta, mutating};
  kube::HttpRequest call;
  call.method = "POST";
  call.target = TargetOf(webhook);
  call.headers.Set("Host", HostHeader(*target));
  call.headers.Set("Content-Type", "application/json");
  call.headers.Set("Accept", "application/json");
  call.body = kube::Serialize(MakeReview(request, resource, form));
  const std::string url = fmt::format("https://{}{}", HostHeader(*target), call.target);
  (*transport)
      ->Send(std::move(call), webhook.timeout,
             scope_.Wrap([form = std::move(form), url, transport = *transport,
                          done = std::move(done)](StatusOr<kube::HttpResponse> response) mutable {
               if (!response.ok()) {
                 return done(Unavailable("Post \"{}\": {}", url, Explain(response.status())));
               }
               done(ReadReview(*response, form));
             }));
}

}  // namespace koord::apiserver
