#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics/metrics.h"
#include "base/status.h"
#include "program/router.h"

namespace koord::program {

// One of /healthz, /livez and /readyz: named checks, and the answers that Kubernetes' programs give
// about them. The answer names what failed but keeps why to the log, which may tell more than
// strangers should know. Each result is counted, for /metrics/slis.
class HealthChecks {
 public:
  using Check = std::function<Status()>;

  // `name` is "healthz"; there is always the check `ping`, which says that the program answers.
  HealthChecks(std::string name, metrics::Registry& slis);

  // A check that is there already is replaced.
  void Add(std::string_view name, Check check);

  // "ok", or 500; ?verbose lists the checks, ?exclude=NAME leaves one out.
  kube::HttpResponse Answer(const RouteRequest& request);
  kube::HttpResponse AnswerOne(std::string_view check);

 private:
  struct Named {
    std::string name;
    Check check;
  };
  Status Run(const Named& named);

  const std::string name_;
  metrics::Gauges& last_;
  metrics::Counters& total_;
  std::vector<Named> checks_;
};

}  // namespace koord::program
