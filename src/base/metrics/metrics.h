#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What a program counts and measures about itself, for Prometheus to collect.
//
// A registry is an object: whoever counts gets a reference to it, and tests and several components
// in one process each have their own. What is counted often keeps the series that With returns: to
// increment it costs one addition. A series has one writer at a time; any thread may read.
namespace koord::metrics {

class Counter {
 public:
  void Increment(double by = 1) {  // by >= 0
    value_.store(value() + by, std::memory_order_relaxed);
  }
  // For a count that is kept elsewhere, such as CPU time.
  void SetTotal(double total) { value_.store(total, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double by) { Set(value() + by); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// Upper bounds of a histogram's buckets, ascending; what is beyond the last is counted as well.
using Buckets = std::vector<double>;
Buckets ExponentialBuckets(double first, double factor, int count);
Buckets LinearBuckets(double first, double step, int count);
Buckets DefaultBuckets();  // 5 ms to 10 s, in seconds

class Histogram {
 public:
  explicit Histogram(Buckets bounds);

  void Observe(double value) { ObserveMany(value, 1); }
  void ObserveMany(double value, uint64_t times);

  const Buckets& bounds() const { return bounds_; }
  uint64_t count_in(size_t bucket) const {  // bounds().size() is the last
    return counts_[bucket].load(std::memory_order_relaxed);
  }
  uint64_t count() const;
  double sum() const { return sum_.value(); }

 private:
  const Buckets bounds_;
  const std::unique_ptr<std::atomic<uint64_t>[]> counts_;
  Gauge sum_;
};

enum class Type { kCounter, kGauge, kHistogram };

// What is said of all series of one name.
struct Description {
  std::string name;
  std::string help;
  Type type = Type::kCounter;
  std::vector<std::string> labels;

  bool operator==(const Description&) const = default;
};

// All series of one name, told apart by the values of their labels.
class AnyFamily {
 public:
  // Families of several registries in one process share a description that is the same.
  explicit AnyFamily(Description description);
  virtual ~AnyFamily() = default;
  AnyFamily(const AnyFamily&) = delete;
  AnyFamily& operator=(const AnyFamily&) = delete;

  const std::string& name() const { return description_->name; }
  const std::string& help() const { return description_->help; }
  Type type() const { return description_->type; }
  const std::vector<std::string>& labels() const { return description_->labels; }

 protected:
  void CheckValues(
      size_t count) const;  // a wrong number of label values is a bug: ends the program

 private:
  const std::shared_ptr<const Description> description_;
};

template <class Series>
class Family final : public AnyFamily {
 public:
  using Values = std::initializer_list<std::string_view>;
  using Make = std::function<std::unique_ptr<Series>()>;

  Family(Description description, size_t limit, Make make)
      : AnyFamily(std::move(description)), limit_(limit), make_(std::move(make)) {}

  // The series with these values, in the order of the labels. It stays where it is until it is
  // removed. Beyond the limit all new ones share a series whose values are "other", so that
  // whatever users put into labels cannot fill the memory.
  Series& With(Values values) { return With(std::span(values.begin(), values.size())); }
  Series& With(std::span<const std::string_view> values) {
    CheckValues(values.size());
    const std::lock_guard lock(mutex_);
    const auto it = series_.find(values);
    if (it != series_.end()) return *it->second;
    std::vector<std::string> key(values.begin(), values.end());
    if (series_.size() >= limit_) key.assign(values.size(), "other");
    auto& series = series_[std::move(key)];
    if (series == nullptr) series = make_();
    return *series;
  }

  // Forgets a series, for example of an object that is gone. Nobody may use it any more.
  void Remove(Values values) { Remove(std::span(values.begin(), values.size())); }
  void Remove(std::span<const std::string_view> values) {
    const std::lock_guard lock(mutex_);
    const auto it = series_.find(values);
    if (it != series_.end()) series_.erase(it);
  }
  void Clear() {
    const std::lock_guard lock(mutex_);
    series_.clear();
  }

  // In the order of their values.
  void ForEach(
      const std::function<void(const std::vector<std::string>&, const Series&)>& visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [values, series] : series_) visit(values, *series);
  }

 private:
  struct Less {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return std::lexicographical_compare(
          a.begin(), a.end(), b.begin(), b.end(),
          [](std::string_view x, std::string_view y) { return x < y; });
    }
  };

  const size_t limit_;
  const Make make_;
  mutable std::mutex mutex_;
  std::map<std::vector<std::string>, std::unique_ptr<Series>, Less> series_;
};

using Counters = Family<Counter>;
using Gauges = Family<Gauge>;
using Histograms = Family<Histogram>;

class Registry {
 public:
  static constexpr size_t kSeriesLimit = 10'000;  // of one family

  // A name that is there already is the same family again; it must be of the same type and labels.
  Counters& AddCounters(std::string_view name, std::string_view help,
                        std::vector<std::string> labels, size_t limit = kSeriesLimit);
  Gauges& AddGauges(std::string_view name, std::string_view help, std::vector<std::string> labels,
                    size_t limit = kSeriesLimit);
  Histograms& AddHistograms(std::string_view name, std::string_view help,
                            std::vector<std::string> labels, Buckets buckets,
                            size_t limit = kSeriesLimit);

  // Those without labels.
  Counter& AddCounter(std::string_view name, std::string_view help);
  Gauge& AddGauge(std::string_view name, std::string_view help);
  Histogram& AddHistogram(std::string_view name, std::string_view help, Buckets buckets);

  // Runs whenever somebody asks for the text, on the asker's thread: sets what is cheaper to look
  // up than to keep up to date.
  void BeforeText(std::function<void()> update);

  // Prometheus' text format, families by name and series by their labels.
  std::string Text() const;

 private:
  template <class Series>
  Family<Series>& Add(Description description, size_t limit, typename Family<Series>::Make make);

  mutable std::mutex mutex_;
  std::map<std::string_view, std::unique_ptr<AnyFamily>> families_;  // by their own names
  std::vector<std::function<void()>> updates_;
};

inline constexpr std::string_view kTextContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace koord::metrics
