#include "program/component_api.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/metrics/process_metrics.h"
#include "base/strings.h"
#include "base/version.h"

namespace koord::program {
namespace {

#ifdef __aarch64__
constexpr char kPlatform[] = "linux/arm64";
#else
constexpr char kPlatform[] = "linux/amd64";
#endif

std::vector<std::string_view> VersionNumbers() {
  return Split(std::string_view(kVersion).substr(1), '.');
}

kube::Json VersionInfo() {
  return kube::json::object{{"major", VersionNumbers()[0]},
                            {"minor", VersionNumbers()[1]},
                            {"gitVersion", kVersion},
                            {"compiler", "g++"},
                            {"platform", kPlatform}};
}

StatusOr<std::string> SetVerbosity(std::string_view value) {
  const auto level = ParseInt(value);
  if (!level || *level < 0 || *level > 100) {
    return InvalidArgument("failed set klog.logging.verbosity {}: must be a number from 0 to 100",
                           value);
  }
  log::SetVerbosity(static_cast<int>(*level));
  return fmt::format("successfully set klog.logging.verbosity to {}", value);
}

}  // namespace

ComponentApi::ComponentApi(bool profiling) {
  metrics::AddProcessMetrics(metrics_);
  metrics_
      .AddGauges("kubernetes_build_info",
                 "A metric with a constant '1' value labeled by the version of the program.",
                 {"git_version", "major", "minor", "platform"})
      .With({kVersion, VersionNumbers()[0], VersionNumbers()[1], kPlatform})
      .Set(1);
  AddHealthRoutes("/healthz", healthz_);
  AddHealthRoutes("/livez", livez_);
  AddHealthRoutes("/readyz", readyz_);
  AddRoute("GET", "/metrics", [this](const RouteRequest&) { return MetricsResponse(metrics_); });
  AddRoute("GET", "/metrics/slis", [this](const RouteRequest&) { return MetricsResponse(slis_); });
  AddRoute("GET", "/version", [](const RouteRequest&) { return JsonResponse(200, VersionInfo()); });
  AddRoute("GET", "/configz", [this](const RouteRequest&) {
    kube::json::object all;
    for (const auto& [key, config] : configs_) all[key] = config();
    return JsonResponse(200, std::move(all));
  });
  AddRoute("GET", "/apis/v1/explain/settings", [this](const RouteRequest&) {
    kube::json::array problems;
    for (const std::string& sentence : setting_problems_) problems.emplace_back(sentence);
    for (const auto& present : present_problems_) {
      for (const std::string& sentence : present()) problems.emplace_back(sentence);
    }
    return JsonResponse(200, {{"problems", std::move(problems)}});
  });
  if (profiling) AddDebugRoutes();
  AddDebugFlag("v", SetVerbosity);
}

void ComponentApi::AddHealthRoutes(std::string_view path, HealthChecks& checks) {
  AddRoute("GET", path, [&checks](const RouteRequest& request) { return checks.Answer(request); });
  AddRoute("GET", std::string(path) + "/{check}", [&checks](const RouteRequest& request) {
    return checks.AnswerOne(request.Param("check"));
  });
}

void ComponentApi::AddDebugRoutes() {
  AddRoute("GET", "/debug/flags", [this](const RouteRequest&) {
    std::string page = "<html><head><title>/debug/flags/</title></head><body>/debug/flags/<br><br>";
    for (const auto& [name, set] : debug_flags_) {
      page += fmt::format("<a href=\"/debug/flags/{0}\">{0}</a><br>", name);
    }
    kube::HttpResponse response{.body = page + "</body></html>\n"};
    response.headers.Add("Content-Type", "text/html; charset=utf-8");
    return response;
  });
  AddRoute("", "/debug/flags/{flag}", [this](const RouteRequest& request) {
    const auto flag = debug_flags_.find(request.Param("flag"));
    if (flag == debug_flags_.end()) return TextResponse(404, "404 page not found\n");
    if (request.http.method != "PUT") return TextResponse(406, "unsupported http method\n");
    const auto text = flag->second(Trim(request.http.body));
    if (!text.ok()) return TextResponse(400, fmt::format("{}\n", Message(text.status())));
    return TextResponse(200, *text + "\n");
  });
}

void ComponentApi::AddHealthCheck(std::string_view name, const HealthChecks::Check& check) {
  for (HealthChecks* checks : {&healthz_, &livez_, &readyz_}) checks->Add(name, check);
}

void ComponentApi::ShowConfig(std::string_view key, std::function<kube::Json()> config) {
  configs_.insert_or_assign(std::string(key), std::move(config));
}

void ComponentApi::AddSettingProblems(const std::vector<std::string>& sentences) {
  setting_problems_.insert(setting_problems_.end(), sentences.begin(), sentences.end());
}

void ComponentApi::ShowSettingProblems(std::function<std::vector<std::string>()> problems) {
  present_problems_.push_back(std::move(problems));
}

void ComponentApi::AddDebugFlag(std::string_view name, SetFlag set) {
  debug_flags_.insert_or_assign(std::string(name), std::move(set));
}

kube::HttpResponse MetricsResponse(const metrics::Registry& registry) {
  kube::HttpResponse response{.body = registry.Text()};
  response.headers.Add("Content-Type", std::string(metrics::kTextContentType));
  return response;
}

}  // namespace koord::program
