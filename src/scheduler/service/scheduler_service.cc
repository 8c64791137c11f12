#include "scheduler/service/scheduler_service.h"

#include <fmt/format.h>

#include <set>

#include "base/strings.h"
#include "program/router.h"
#include "scheduler/explain/explain.h"
#include "scheduler/explain/reservation_explanation.h"
#include "scheduler/framework/service_plugin.h"
#include "scheduler/service/node_info.h"
#include "scheduler/service/resource_metrics.h"

namespace koord::scheduler {
namespace {

using kube::HttpResponse;
using program::JsonResponse;
using program::RouteRequest;
using program::TextResponse;

constexpr std::string_view kBase = "/apis/v1";

HttpResponse MessageResponse(int status, std::string message) {
  return JsonResponse(status, kube::json::object{{"message", std::move(message)}});
}

class Routes {
 public:
  Routes(program::ComponentApi& api, const ServiceContext& context)
      : api_(api), context_(context) {}

  void Add() {
    AddGet("/__services__", [&api = api_](const RouteRequest&) { return Services(api); });
    AddGet("/nodes/{node}", [context = context_](const RouteRequest& request) {
      return Node(context, request.Param("node"));
    });
    AddGet("/explain/pods/{namespace}/{name}", [context = context_](const RouteRequest& request) {
      return ExplainPod(
          context, {std::string(request.Param("namespace")), std::string(request.Param("name"))});
    });
    AddGet("/explain/reservations/{name}", [context = context_](const RouteRequest& request) {
      return ExplainReservationNamed(context, std::string(request.Param("name")));
    });
    AddPlugins();
    if (!context_.scheduler.objects().elastic_quotas.needed()) {
      for (const char* path : {"", "/{name}"}) {
        AddGet(fmt::format("/plugins/ElasticQuota/explanation{}", path), [](const RouteRequest&) {
          return MessageResponse(404, "no profile runs the plugin ElasticQuota");
        });
      }
    }
    api_.AddRoute("GET", "/metrics/resources", [context = context_](const RouteRequest&) {
      return TextResponse(200, context.is_leader() ? ResourceMetrics(context.scheduler) : "");
    });
    AddDebugFlags();
  }

 private:
  // The leader's answer.
  void AddGet(const std::string& path, program::Router::Answer answer) {
    api_.AddRoute("GET", std::string(kBase) + path,
                  [context = context_, answer = std::move(answer)](const RouteRequest& request) {
                    if (!context.initialized()) {
                      return TextResponse(503,
                                          "The component is initializing and temporarily "
                                          "unavailable");
                    }
                    if (!context.is_leader()) {
                      return MessageResponse(503, "the instance is not leader");
                    }
                    return answer(request);
                  });
  }

  static HttpResponse Services(const program::ComponentApi& api) {
    kube::json::object services;
    for (const auto& [method, patterns] : api.router().Patterns()) {
      kube::json::array paths;
      for (const std::string& pattern : patterns) {
        if (pattern.starts_with(kBase)) paths.emplace_back(pattern);
      }
      if (!paths.empty()) services[method] = std::move(paths);
    }
    return JsonResponse(200, std::move(services));
  }

  static HttpResponse Node(const ServiceContext& context, std::string_view name) {
    const Ledger& ledger = context.scheduler.ledger();
    const auto row = ledger.nodes().Find(name);
    if (!row) return MessageResponse(404, fmt::format("cannot find node {}", name));
    return JsonResponse(200, DescribeNode(ledger, *row));
  }

  static HttpResponse ExplainPod(const ServiceContext& context, const kube::ObjectKey& key) {
    const Scheduler::PodPtr pod = context.find_pod(key);
    if (pod == nullptr) {
      return MessageResponse(
          404, fmt::format("cannot find pod {} among those that have not ended", key.ToString()));
    }
    return JsonResponse(200, kube::Encode(Explain(context.scheduler, pod, &context.decisions)));
  }

  static HttpResponse ExplainReservationNamed(const ServiceContext& context,
                                              const std::string& name) {
    if (!context.scheduler.objects().reservations.needed()) {
      return MessageResponse(404, "no profile runs the plugin Reservation");
    }
    const auto explanation = ExplainReservation(context.scheduler, name);
    if (!explanation) return MessageResponse(404, fmt::format("cannot find reservation {}", name));
    return JsonResponse(200, kube::Encode(*explanation));
  }

  // A plugin of several profiles answers once, for the first.
  void AddPlugins() {
    std::set<std::string, std::less<>> added;
    for (const PluginLineup* lineup : context_.scheduler.lineups()) {
      for (const auto& plugin : lineup->plugins) {
        auto* service = dynamic_cast<ServicePlugin*>(plugin.get());
        if (service == nullptr || !added.emplace(plugin->name()).second) continue;
        for (ServicePlugin::Endpoint& endpoint : service->Endpoints()) {
          AddGet(fmt::format("/plugins/{}/{}", plugin->name(), endpoint.path),
                 [answer = std::move(endpoint.answer)](const RouteRequest& request) {
                   ServicePlugin::Params params = request.params;
                   for (const auto& [name, value] : request.query) params.emplace(name, value);
                   const StatusOr<kube::Json> body = answer(params);
                   if (body.ok()) return JsonResponse(200, *body);
                   return MessageResponse(absl::IsNotFound(body.status()) ? 404 : 500,
                                          std::string(Message(body.status())));
                 });
        }
      }
    }
  }

  void AddDebugFlags() {
    DebugFlags& flags = context_.debug;
    api_.AddDebugFlag("s", [&flags](std::string_view value) -> StatusOr<std::string> {
      const auto top = ParseInt(value);
      if (!top || *top < 0 || *top > std::numeric_limits<int>::max()) {
        return InvalidArgument("failed set debugTopNScores {}: must be a whole number from 0 on",
                               value);
      }
      flags.top_scores = static_cast<int>(*top);
      return fmt::format("successfully set debugTopNScores to {}", value);
    });
    AddBoolFlag("f", flags.filter_failures);
    AddBoolFlag("d", flags.diagnosis);
    AddBoolFlag("db", flags.diagnosis_blocking);
  }

  void AddBoolFlag(std::string_view name, bool& flag) {
    api_.AddDebugFlag(name, [&flag](std::string_view value) -> StatusOr<std::string> {
      const std::optional<bool> parsed = koord::ParseBool(value);
      if (!parsed) {
        return InvalidArgument("failed set debugFilterFailure {}: must be true or false", value);
      }
      flag = *parsed;
      return fmt::format("successfully set debugFilterFailure to {}", value);
    });
  }

  program::ComponentApi& api_;
  const ServiceContext& context_;
};

}  // namespace

void AddSchedulerRoutes(program::ComponentApi& api, const ServiceContext& context) {
  Routes(api, context).Add();
}

}  // namespace koord::scheduler
