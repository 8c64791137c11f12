#include "program/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/log.h"
#include "base/strings.h"

namespace koord::program {

HealthChecks::HealthChecks(std::string name, metrics::Registry& slis)
    : name_(std::move(name)),
      last_(slis.AddGauges("kubernetes_healthcheck",
                           "This metric records the result of a single healthcheck.",
                           {"name", "type"})),
      total_(slis.AddCounters("kubernetes_healthchecks_total",
                              "This metric records the results of all healthcheck.",
                              {"name", "status", "type"})) {
  Add("ping", [] { return absl::OkStatus(); });
}

void HealthChecks::Add(std::string_view name, Check check) {
  for (Named& named : checks_) {
    if (named.name == name) return void(named.check = std::move(check));
  }
  checks_.push_back({std::string(name), std::move(check)});
}

Status HealthChecks::Run(const Named& named) {
  const Status status = named.check();
  last_.With({named.name, name_}).Set(status.ok() ? 1 : 0);
  total_.With({named.name, status.ok() ? "success" : "error", name_}).Increment();
  if (!status.ok()) {
    LOG_INFO("Health check failed", {"type", name_}, {"check", named.name}, {"err", status});
  }
  return status;
}

kube::HttpResponse HealthChecks::Answer(const RouteRequest& request) {
  std::set<std::string> excluded;
  for (const auto& [key, value] : request.query) {
    if (key == "exclude") excluded.insert(value);
  }
  std::string report;
  bool failed = false;
  for (const Named& named : checks_) {
    if (excluded.erase(named.name) > 0) {
      report += fmt::format("[+]{} excluded: ok\n", named.name);
    } else if (Run(named).ok()) {
      report += fmt::format("[+]{} ok\n", named.name);
    } else {
      failed = true;
      report += fmt::format("[-]{} failed: reason withheld\n", named.name);
    }
  }
  for (const std::string& name : excluded) {
    report += fmt::format("warn: some health checks cannot be excluded: no matches for {}\n",
                          Quote(name));
  }
  if (failed) return TextResponse(500, fmt::format("{}{} check failed\n", report, name_));
  if (!request.HasQuery("verbose")) return TextResponse(200, "ok");
  return TextResponse(200, fmt::format("{}{} check passed\n", report, name_));
}

kube::HttpResponse HealthChecks::AnswerOne(std::string_view check) {
  for (const Named& named : checks_) {
    if (named.name != check) continue;
    const Status status = Run(named);
    if (status.ok()) return TextResponse(200, "ok");
    return TextResponse(500, fmt::format("internal server error: {}\n", Message(status)));
  }
  return TextResponse(404, "404 page not found\n");
}

}  // namespace koord::program
