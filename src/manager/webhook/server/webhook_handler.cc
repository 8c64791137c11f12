#include "manager/webhook/server/webhook_handler.h"

#include <algorithm>
#include <utility>

#include "manager/webhook/configmap/config_webhook.h"
#include "manager/webhook/elasticquota/elastic_quota_webhook.h"
#include "manager/webhook/node/node_webhook.h"
#include "manager/webhook/pod/pod_keys.h"
#include "manager/webhook/pod/pod_mutating.h"
#include "manager/webhook/reservation/reservation_webhook.h"
#include "manager/webhook/unsupported/unsupported_webhook.h"
#include "program/router.h"

namespace koord::manager::webhook {
namespace {

using kube::HttpRequest;
using kube::HttpResponse;
using kube::ResponseWriter;
using program::TextResponse;
using RequestPtr = std::shared_ptr<const Request>;

HttpResponse ReviewResponse(int status, std::string body) {
  HttpResponse response{.status = status, .body = std::move(body)};
  response.headers.Set("Content-Type", "application/json");
  return response;
}

}  // namespace

WebhookHandler::WebhookHandler(const Inputs& inputs, HandlerOptions options)
    : inputs_(inputs),
      options_(std::move(options)),
      metrics_(inputs.metrics),
      random_(options_.seed) {
  AddPaths();
  AddConfigPaths();
}

void WebhookHandler::Add(bool enabled, std::string path, Answer answer) {
  if (enabled) answers_.emplace(std::move(path), std::move(answer));
}

void WebhookHandler::AddPaths() {
  const Features& features = options_.features;
  Add(features.pod_mutating, kMutatePodPath, [this](const RequestPtr& request, Done done) {
    MutatePodWhenNamespaceIsKnown(request, std::move(done));
  });
  Add(features.pod_validating, kValidatePodPath, [this](const RequestPtr& request, Done done) {
    ValidatePod(*request,
                {inputs_.view, options_.features, options_.trust, inputs_.clock, enhanced_,
                 inputs_.evaluator, &metrics_},
                std::move(done));
  });
  Add(features.pod_validating && !options_.trust.trust_everyone, kValidatePodKeysPath,
      [this](const RequestPtr& request, Done done) {
        done(ValidatePodKeys(*request,
                             {inputs_.view, options_.features, options_.trust, &metrics_}));
      });
  // Every pod is bound: nobody should ask where the answer is always yes.
  Add(features.pod_validating && features.binding_admission, "/validate-pod-binding",
      [this](const RequestPtr& request, Done done) {
        done(ValidateBinding(*request, inputs_.view, options_.binding, &metrics_));
      });
  Add(true, "/validate-unsupported",
      [](const RequestPtr& request, Done done) { done(WarnOfUnsupported(*request)); });
  constexpr char kQuotas[] = "scheduling-sigs-k8s-io-v1alpha1-elasticquota";
  Add(features.elastic_mutating, std::string("/mutate-") + kQuotas,
      [this](const RequestPtr& request, Done done) {
        done(MutateElasticQuota(*request, inputs_.view, &metrics_));
      });
  Add(features.elastic_validating, std::string("/validate-") + kQuotas,
      [this](const RequestPtr& request, Done done) {
        done(ValidateElasticQuota(*request, inputs_.view));
      });
  Add(features.reservation_mutating, "/mutate-reservation",
      [this](const RequestPtr& request, Done done) {
        done(MutateReservation(*request, inputs_.view, random_));
      });
  Add(!options_.trust.trust_everyone, "/validate-reservation",
      [this](const RequestPtr& request, Done done) {
        done(ValidateReservation(*request, options_.trust, &metrics_));
      });
  Add(features.node_mutating, "/mutate-node-status", [this](const RequestPtr& request, Done done) {
    const SteadyTime start = inputs_.clock.Steady();
    Response response = MutateNodeStatus(*request);
    StepTimer(&metrics_, inputs_.clock, "mutate", "node", request->operation)
        .Observe("NodeResourceAmplificationPlugin", response.allowed, start);
    done(std::move(response));
  });
}

void WebhookHandler::AddConfigPaths() {
  const Features& features = options_.features;
  const auto timed = [this](std::string_view object, std::string_view plugin,
                            const RequestPtr& request, auto judge) {
    const SteadyTime start = inputs_.clock.Steady();
    Response response = judge();
    StepTimer(&metrics_, inputs_.clock, "validate", object, request->operation)
        .Observe(plugin, response.allowed, start);
    return response;
  };
  Add(features.node_validating, "/validate-node",
      [this, timed](const RequestPtr& request, Done done) {
        done(timed("node", "SLOManagerConfigConflictForNode", request,
                   [&] { return ValidateNode(*request, inputs_.view); }));
      });
  Add(features.config_map_validating, "/validate-configmap",
      [this, timed](const RequestPtr& request, Done done) {
        done(timed("configmap", "SLOConfig", request, [&] {
          return ValidateConfigMap(*request, inputs_.view, options_.slo_config,
                                   {.check_names = options_.check_strategy_names});
        }));
      });
}

void WebhookHandler::MutatePodWhenNamespaceIsKnown(const RequestPtr& request, Done done) {
  auto mutate = [this, request](Done& then) {
    then(MutatePod(*request, {inputs_.view, options_.features, random_, inputs_.clock, &metrics_}));
  };
  if (!inputs_.know_namespace || inputs_.view.profiles().empty()) return mutate(done);
  inputs_.know_namespace(
      request->ns, [mutate, done = std::make_shared<Done>(std::move(done))] { mutate(*done); });
}

std::set<std::string, std::less<>> WebhookHandler::paths() const {
  std::set<std::string, std::less<>> paths;
  for (const auto& [path, answer] : answers_) paths.insert(path);
  return paths;
}

void WebhookHandler::Handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
  const std::string path = program::PathOf(request);
  if (path == "/healthz") return writer->Finish(TextResponse(200, "ok"));
  if (auto refusal = Refusal(request, path)) return writer->Finish(*std::move(refusal));
  Review(answers_.find(path)->second, request, std::move(writer));
}

void WebhookHandler::Check(const HttpRequest& head, RequestGate::Done done) {
  done(Refusal(head, program::PathOf(head)));
}

std::optional<HttpResponse> WebhookHandler::Refusal(const HttpRequest& request,
                                                    std::string_view path) const {
  if (options_.require_client_certificate && !request.user) {
    return TextResponse(401, "a client certificate is required\n");
  }
  if (!options_.client_names.empty() &&
      std::ranges::find(options_.client_names, request.user ? request.user->name : "") ==
          options_.client_names.end()) {
    return TextResponse(403, "the client certificate is for somebody else\n");
  }
  if (path == "/elasticQuota") {
    return TextResponse(403,
                        "forbidden: quotas are shown to those who log in, with HTTPS and a bearer "
                        "token at the port of --secure-port\n");
  }
  if (answers_.find(path) == answers_.end()) return TextResponse(404, "no such webhook\n");
  if (request.method != "POST") return TextResponse(405, "reviews are sent with POST\n");
  if (inputs_.is_ready && !inputs_.is_ready()) {
    return TextResponse(503, "webhooks are not ready yet\n");
  }
  return std::nullopt;
}

void WebhookHandler::Review(const Answer& answer, const HttpRequest& request,
                            std::shared_ptr<ResponseWriter> writer) {
  auto review = ReadReview(request.headers.Get("Content-Type"), request.body);
  if (!review.ok()) {
    return writer->Finish(
        ReviewResponse(400, WriteReview("", "", Response::Errored(400, review.status()))));
  }
  const auto subject = std::make_shared<const Request>(std::move(review->request));
  answer(subject, [writer = std::move(writer), version = std::move(review->api_version),
                   subject](Response response) {
    writer->Finish(ReviewResponse(200, WriteReview(version, subject->uid, response)));
  });
}

}  // namespace koord::manager::webhook
