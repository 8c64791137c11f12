#include "localcluster/apiserver/core/metrics.h"

#include "base/metrics/metrics.h"

namespace koord::apiserver {
namespace {

std::string Upper(std::string_view verb) {
  std::string text(verb);
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

struct Metrics::Impl {
  metrics::Registry registry;
  metrics::Counters& requests =
      registry.AddCounters("apiserver_request_total",
                           "Requests by verb, group, version, resource, subresource and HTTP code.",
                           {"verb", "group", "version", "resource", "subresource", "code"});
  metrics::Histogram& duration =
      registry.AddHistogram("apiserver_request_duration_seconds",
                            "Time from a request's arrival to its answer, watches excluded.",
                            {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30});
  metrics::Gauge& watches =
      registry.AddGauges("apiserver_longrunning_requests", "Open watches.", {"verb"})
          .With({"WATCH"});
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::CountRequest(const RequestLabels& labels, int code, Duration took) {
  impl_->requests
      .With({Upper(labels.verb), labels.group, labels.version, labels.resource, labels.subresource,
             std::to_string(code)})
      .Increment();
  if (labels.verb != "watch") impl_->duration.Observe(std::chrono::duration<double>(took).count());
}

void Metrics::WatchOpened() { impl_->watches.Add(1); }
void Metrics::WatchClosed() { impl_->watches.Add(-1); }

std::string Metrics::Text() const { return impl_->registry.Text(); }

}  // namespace koord::apiserver
