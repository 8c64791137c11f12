#include "localcluster/apiserver/api_server.h"

#include <utility>

#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/definitions.h"
#include "localcluster/apiserver/discovery/discovery.h"
#include "localcluster/apiserver/discovery/openapi_handler.h"
#include "localcluster/apiserver/endpoints.h"
#include "localcluster/apiserver/event_expiry.h"
#include "localcluster/apiserver/http/respond.h"
#include "localcluster/apiserver/http/routing.h"
#include "localcluster/apiserver/pods/container_access.h"
#include "localcluster/apiserver/pods/pod_actions.h"
#include "localcluster/apiserver/read/read.h"
#include "localcluster/apiserver/read/watch.h"
#include "localcluster/apiserver/reviews.h"
#include "localcluster/apiserver/usage_metrics.h"
#include "localcluster/apiserver/webhook_configurations.h"
#include "localcluster/apiserver/write/bootstrap.h"
#include "localcluster/apiserver/write/builtin_admission.h"
#include "localcluster/apiserver/write/scale.h"
#include "localcluster/apiserver/write/write_handlers.h"
#include "localcluster/apiserver/write/writer.h"

namespace koord::apiserver {
namespace {

constexpr size_t kMaxBody = 3 << 20;
const kube::Resource kBindings{"", "v1", "bindings", "Binding"};

}  // namespace

class ApiServer::Impl {
 public:
  Impl(EventLoop& loop, Store& store, Options options)
      : core_(loop, store, std::move(options)),
        builtin_(core_),
        webhooks_(WebhookWorld(), core_.random()),
        writer_(core_, builtin_, webhooks_),
        watches_(core_),
        definitions_(core_, writer_, watches_),
        discovery_(core_),
        openapi_(core_),
        writes_(core_, writer_),
        webhook_configurations_(core_, webhooks_),
        pods_(core_, writer_),
        scales_(core_, writer_),
        event_expiry_(core_) {
    Bootstrap(core_, writer_);
    builtin_.quotas().KeepStatus(writer_);
  }

  void Handle(kube::HttpRequest http, std::shared_ptr<kube::ResponseWriter> writer) {
    auto request = std::make_shared<Request>();
    request->http = std::move(http);
    request->writer = std::move(writer);
    request->start = core_.loop.clock().Steady();
    request->audit_id = request->http.headers.Get("Audit-Id");
    if (request->audit_id.empty()) request->audit_id = core_.NewUid();
    if (!ParseTarget(*request)) {
      return RespondError(core_, *request, BadRequest("the request target is not a path in UTF-8"));
    }
    if (!request->http.user && !IsPublicPath(*request)) {
      return RespondError(core_, *request, Error(401, "Unauthorized", "Unauthorized"));
    }
    if (core_.stopping) {
      return RespondError(core_, *request,
                          Error(503, "ServiceUnavailable", "the server is shutting down"));
    }
    if (request->http.body.size() > kMaxBody) {
      return RespondError(core_, *request,
                          Error(413, "RequestEntityTooLarge",
                                fmt::format("Request entity is too large: limit is {}", kMaxBody)));
    }
    if (HandleEndpoint(core_, *request) || discovery_.Handle(*request) || openapi_.Handle(*request))
      return;
    HandleResource(std::move(request));
  }

  void Shutdown() {
    core_.stopping = true;
    watches_.EndAll();
  }

  Core& core() { return core_; }
  Webhooks& webhooks() { return webhooks_; }

 private:
  // Namespaces are ours to look up; the rest is the embedder's.
  WebhookEnvironment WebhookWorld() {
    WebhookEnvironment world = core_.options.webhooks;
    if (!world.namespace_labels) {
      world.namespace_labels = [this](std::string_view ns) { return NamespaceLabels(core_, ns); };
    }
    world.resolve = [this, known = std::move(world.resolve)](const ServiceReference& service) {
      StatusOr<Endpoint> endpoint = NotFound("nobody knows it");
      if (known) endpoint = known(service);
      return absl::IsNotFound(endpoint.status()) ? ResolveService(core_, service) : endpoint;
    };
    return world;
  }

  void HandleResource(RequestPtr request) {
    const Status routed = Route(core_.registry, *request);
    if (absl::IsNotFound(routed) && !kube::AsApiError(routed)) {
      return RespondNoSuchPath(core_, *request);
    }
    if (!routed.ok()) return RespondError(core_, *request, routed);
    StatusOr<Output> output = NegotiateOutput(request->http.headers.Get("Accept"));
    if (!output.ok()) return RespondError(core_, *request, output.status());
    request->output = std::move(*output);
    if (!request->info->deprecation_warning.empty()) {
      request->warnings.push_back(request->info->deprecation_warning);
    }
    Dispatch(std::move(request));
  }

  void Dispatch(RequestPtr request) {
    const std::string& verb = request->verb;
    const std::string& subresource = request->subresource;
    if (request->info->resource.group == kMetricsGroup) return RespondUsage(core_, *request);
    if (NeedsContainers(subresource)) return RespondNoContainers(core_, *request);
    if (subresource == "scale") return scales_.Handle(std::move(request));
    if (subresource == "binding") return pods_.Bind(std::move(request));
    if (subresource == "eviction") return pods_.Evict(std::move(request));
    if (subresource == "token") return IssueToken(core_, *request);
    if (verb == "get") return GetObject(core_, std::move(request));
    if (verb == "list") return ListObjects(core_, std::move(request));
    if (verb == "watch") return watches_.Start(std::move(request));
    if (verb == "create") return Create(std::move(request));
    if (verb == "update") return writes_.Update(std::move(request));
    if (verb == "patch") return writes_.Patch(std::move(request));
    if (verb == "delete") return writes_.Delete(std::move(request));
    writes_.DeleteCollection(std::move(request));
  }

  void Create(RequestPtr request) {
    if (request->info->resource == kBindings) return pods_.Bind(std::move(request));
    if (HandleReview(core_, *request)) return;
    writes_.Create(std::move(request));
  }

  Core core_;
  BuiltinAdmission builtin_;
  Webhooks webhooks_;
  Writer writer_;
  Watches watches_;
  Definitions definitions_;
  Discovery discovery_;
  OpenApiHandler openapi_;
  WriteHandlers writes_;
  WebhookConfigurations webhook_configurations_;
  PodActions pods_;
  ScaleHandlers scales_;
  EventExpiry event_expiry_;
};

ApiServer::ApiServer(EventLoop& loop, Store& store, Options options)
    : impl_(std::make_unique<Impl>(loop, store, std::move(options))) {}

ApiServer::~ApiServer() = default;

void ApiServer::Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) {
  impl_->Handle(std::move(request), std::move(response));
}

void ApiServer::RegisterAdmission(InProcessHook hook) {
  impl_->webhooks().Register(std::move(hook));
}

void ApiServer::Shutdown() { impl_->Shutdown(); }

bool ApiServer::Has(const kube::Resource& resource, const kube::ObjectKey& key,
                    std::string_view uid) const {
  return UidOf(impl_->core(), resource, key) == uid;
}

const Registry& ApiServer::registry() const { return impl_->core().registry; }

}  // namespace koord::apiserver
