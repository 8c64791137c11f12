#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics/metrics.h"
#include "base/status.h"
#include "program/health.h"
#include "program/router.h"

namespace koord::program {

// What a component answers over HTTP: health, metrics, its configuration and version, debug flags,
// and whatever the component adds. Knows no sockets: a ComponentServer carries it to the outside,
// an InProcessTransport to tests and to others in the same process.
class ComponentApi final : public kube::HttpHandler {
 public:
  // Sets a debug flag; the text goes to the user, also that of an error.
  using SetFlag = std::function<StatusOr<std::string>(std::string_view value)>;

  // `profiling` allows /debug.
  explicit ComponentApi(bool profiling = true);

  HealthChecks& healthz() { return healthz_; }
  HealthChecks& livez() { return livez_; }
  HealthChecks& readyz() { return readyz_; }
  // Adds the check to all three.
  void AddHealthCheck(std::string_view name, const HealthChecks::Check& check);

  metrics::Registry& metrics() { return metrics_; }

  // A pattern has "{params}"; see Router.
  void AddRoute(std::string_view method, std::string_view pattern, Router::Handler handler) {
    router_.AddRoute(method, pattern, std::move(handler));
  }
  void AddRoute(std::string_view method, std::string_view pattern, Router::Answer answer) {
    router_.AddRoute(method, pattern, std::move(answer));
  }
  const Router& router() const { return router_; }

  // /configz shows it under this key; asked for each time.
  void ShowConfig(std::string_view key, std::function<kube::Json()> config);
  // What users have asked for and do not get, a sentence each: /apis/v1/explain/settings tells, and
  // `koord status` with it.
  void AddSettingProblems(const std::vector<std::string>& sentences);
  // The same for what comes and goes; asked for each time.
  void ShowSettingProblems(std::function<std::vector<std::string>()> problems);
  // PUT /debug/flags/<name>
  void AddDebugFlag(std::string_view name, SetFlag set);

  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    router_.Handle(std::move(request), std::move(response));
  }

 private:
  void AddHealthRoutes(std::string_view path, HealthChecks& checks);
  void AddDebugRoutes();

  metrics::Registry metrics_;
  metrics::Registry slis_;
  HealthChecks healthz_{"healthz", slis_};
  HealthChecks livez_{"livez", slis_};
  HealthChecks readyz_{"readyz", slis_};
  std::map<std::string, std::function<kube::Json()>, std::less<>> configs_;
  std::vector<std::string> setting_problems_;
  std::vector<std::function<std::vector<std::string>()>> present_problems_;
  std::map<std::string, SetFlag, std::less<>> debug_flags_;
  Router router_;
};

kube::HttpResponse MetricsResponse(const metrics::Registry& registry);

}  // namespace koord::program
