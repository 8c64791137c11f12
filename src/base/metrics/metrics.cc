#include "base/metrics/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/log.h"

namespace koord::metrics {
namespace {

[[noreturn]] void Die(std::string_view what, std::string_view metric) {
  LOG_ERROR(what, {"metric", metric});
  std::abort();
}

prometheus::MetricType TypeOf(Type type) {
  switch (type) {
    case Type::kCounter:
      return prometheus::MetricType::Counter;
    case Type::kGauge:
      return prometheus::MetricType::Gauge;
    case Type::kHistogram:
      break;
  }
  return prometheus::MetricType::Histogram;
}

void Fill(prometheus::ClientMetric& out, const Counter& counter) {
  out.counter.value = counter.value();
}
void Fill(prometheus::ClientMetric& out, const Gauge& gauge) { out.gauge.value = gauge.value(); }
void Fill(prometheus::ClientMetric& out, const Histogram& histogram) {
  uint64_t so_far = 0;
  for (size_t i = 0; i < histogram.bounds().size(); ++i) {
    so_far += histogram.count_in(i);
    out.histogram.bucket.push_back({so_far, histogram.bounds()[i]});
  }
  out.histogram.sample_count = so_far + histogram.count_in(histogram.bounds().size());
  out.histogram.sample_sum = histogram.sum();
}

template <class Series>
void Append(prometheus::MetricFamily& out, const AnyFamily& family) {
  static_cast<const Family<Series>&>(family).ForEach(
      [&](const std::vector<std::string>& values, const Series& series) {
        prometheus::ClientMetric metric;
        for (size_t i = 0; i < values.size(); ++i) {
          metric.label.push_back({family.labels()[i], values[i]});
        }
        std::sort(metric.label.begin(), metric.label.end());  // as other libraries print them
        Fill(metric, series);
        out.metric.push_back(std::move(metric));
      });
}

prometheus::MetricFamily Collect(const AnyFamily& family) {
  prometheus::MetricFamily out;
  out.name = family.name();
  out.help = family.help();
  out.type = TypeOf(family.type());
  switch (family.type()) {
    case Type::kCounter:
      Append<Counter>(out, family);
      break;
    case Type::kGauge:
      Append<Gauge>(out, family);
      break;
    case Type::kHistogram:
      Append<Histogram>(out, family);
      break;
  }
  return out;
}

Description DescriptionOf(std::string_view name, std::string_view help, Type type,
                          std::vector<std::string> labels) {
  return {std::string(name), std::string(help), type, std::move(labels)};
}

// The one that somebody has already, if it is the same.
std::shared_ptr<const Description> Shared(Description description) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, std::weak_ptr<const Description>, std::less<>>;
  const std::lock_guard lock(mutex);
  std::weak_ptr<const Description>& place = known[description.name];
  if (auto same = place.lock(); same != nullptr && *same == description) return same;
  auto made = std::make_shared<const Description>(std::move(description));
  place = made;
  return made;
}

}  // namespace

Buckets ExponentialBuckets(double first, double factor, int count) {
  Buckets buckets;
  for (double bound = first; count > 0; --count, bound *= factor) buckets.push_back(bound);
  return buckets;
}

Buckets LinearBuckets(double first, double step, int count) {
  Buckets buckets;
  for (int i = 0; i < count; ++i) buckets.push_back(first + step * i);
  return buckets;
}

Buckets DefaultBuckets() { return {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}; }

Histogram::Histogram(Buckets bounds)
    : bounds_(std::move(bounds)),
      counts_(std::make_unique<std::atomic<uint64_t>[]>(bounds_.size() + 1)) {}

void Histogram::ObserveMany(double value, uint64_t times) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  std::atomic<uint64_t>& count = counts_[static_cast<size_t>(bucket)];
  count.store(count.load(std::memory_order_relaxed) + times, std::memory_order_relaxed);
  sum_.Add(value * static_cast<double>(times));
}

uint64_t Histogram::count() const {
  uint64_t total = 0;
  for (size_t i = 0; i <= bounds_.size(); ++i) total += count_in(i);
  return total;
}

AnyFamily::AnyFamily(Description description) : description_(Shared(std::move(description))) {}

void AnyFamily::CheckValues(size_t count) const {
  if (count != labels().size()) Die("A series needs a value for each of its labels", name());
}

template <class Series>
Family<Series>& Registry::Add(Description description, size_t limit,
                              typename Family<Series>::Make make) {
  const std::lock_guard lock(mutex_);
  const auto known = families_.find(description.name);
  if (known == families_.end()) {
    auto family = std::make_unique<Family<Series>>(std::move(description), limit, std::move(make));
    Family<Series>& added = *family;
    families_.emplace(added.name(), std::move(family));
    return added;
  }
  if (known->second->type() != description.type || known->second->labels() != description.labels) {
    Die("A metric was added a second time with another type or other labels", description.name);
  }
  return static_cast<Family<Series>&>(*known->second);
}

Counters& Registry::AddCounters(std::string_view name, std::string_view help,
                                std::vector<std::string> labels, size_t limit) {
  return Add<Counter>(DescriptionOf(name, help, Type::kCounter, std::move(labels)), limit,
                      std::make_unique<Counter>);
}

Gauges& Registry::AddGauges(std::string_view name, std::string_view help,
                            std::vector<std::string> labels, size_t limit) {
  return Add<Gauge>(DescriptionOf(name, help, Type::kGauge, std::move(labels)), limit,
                    std::make_unique<Gauge>);
}

Histograms& Registry::AddHistograms(std::string_view name, std::string_view help,
                                    std::vector<std::string> labels, Buckets buckets,
                                    size_t limit) {
  return Add<Histogram>(
      DescriptionOf(name, help, Type::kHistogram, std::move(labels)), limit,
      [buckets = std::move(buckets)] { return std::make_unique<Histogram>(buckets); });
}

Counter& Registry::AddCounter(std::string_view name, std::string_view help) {
  return AddCounters(name, help, {}).With({});
}
Gauge& Registry::AddGauge(std::string_view name, std::string_view help) {
  return AddGauges(name, help, {}).With({});
}
Histogram& Registry::AddHistogram(std::string_view name, std::string_view help, Buckets buckets) {
  return AddHistograms(name, help, {}, std::move(buckets)).With({});
}

void Registry::BeforeText(std::function<void()> update) {
  const std::lock_guard lock(mutex_);
  updates_.push_back(std::move(update));
}

std::string Registry::Text() const {
  std::vector<std::function<void()>> updates;
  {
    const std::lock_guard lock(mutex_);
    updates = updates_;
  }
  for (const auto& update : updates) update();  // may add metrics itself
  std::vector<prometheus::MetricFamily> families;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, family] : families_) {
    families.push_back(Collect(*family));
    if (families.back().metric.empty()) families.pop_back();  // as others do
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace koord::metrics
