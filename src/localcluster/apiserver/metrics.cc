#include "localcluster/apiserver/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <tuple>

namespace koord::apiserver {
namespace {

std::string Upper(std::string_view verb) {
  std::string text(verb);
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

struct Metrics::Impl {
  // Everything that tells one series from another. Looking a series up by its label map would cost
  // more than the request that it counts.
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, int>;

  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& requests =
      prometheus::BuildCounter()
          .Name("apiserver_request_total")
          .Help("Requests by verb, group, version, resource, subresource and HTTP code.")
          .Register(registry);
  prometheus::Histogram& duration =
      prometheus::BuildHistogram()
          .Name("apiserver_request_duration_seconds")
          .Help("Time from a request's arrival to its answer, watches excluded.")
          .Register(registry)
          .Add({}, prometheus::Histogram::BucketBoundaries{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05,
                                                           0.1, 0.5, 1, 5, 10, 30});
  prometheus::Gauge& watches = prometheus::BuildGauge()
                                   .Name("apiserver_longrunning_requests")
                                   .Help("Open watches.")
                                   .Register(registry)
                                   .Add({{"verb", "WATCH"}});
  std::map<Key, prometheus::Counter*, std::less<>> counters;

  prometheus::Counter& Find(const RequestLabels& labels, int code) {
    const auto key = std::tie(labels.verb, labels.group, labels.version, labels.resource,
                              labels.subresource, code);
    if (const auto it = counters.find(key); it != counters.end()) return *it->second;
    prometheus::Counter& counter = requests.Add({{"verb", Upper(labels.verb)},
                                                 {"group", std::string(labels.group)},
                                                 {"version", std::string(labels.version)},
                                                 {"resource", std::string(labels.resource)},
                                                 {"subresource", std::string(labels.subresource)},
                                                 {"code", std::to_string(code)}});
    counters.emplace(
        Key(labels.verb, labels.group, labels.version, labels.resource, labels.subresource, code),
        &counter);
    return counter;
  }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::CountRequest(const RequestLabels& labels, int code, Duration took) {
  impl_->Find(labels, code).Increment();
  if (labels.verb != "watch") impl_->duration.Observe(std::chrono::duration<double>(took).count());
}

void Metrics::WatchOpened() { impl_->watches.Increment(); }
void Metrics::WatchClosed() { impl_->watches.Decrement(); }

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace koord::apiserver
