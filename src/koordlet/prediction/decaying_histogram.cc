#include "koordlet/prediction/decaying_histogram.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/strings.h"
#include "kube/time.h"

namespace koord::koordlet {
namespace {

constexpr double kRatio = 1.05;
constexpr double kNoWeight = 0.0001;  // less is nothing, at either end
constexpr double kMaxExponent = 100;
constexpr double kLargestCheckpointWeight = 10000;

double HalfLives(Duration time, Duration half_life) {
  return static_cast<double>(time.count()) / static_cast<double>(half_life.count());
}

WallTime RoundTo(WallTime time, Duration unit) {
  const auto since_epoch = time.time_since_epoch();
  return WallTime(std::llround(HalfLives(since_epoch, unit)) * unit);
}

}  // namespace

HistogramShape CpuHistogramShape(Duration half_life) { return {0.025, 1024, half_life}; }

HistogramShape MemoryHistogramShape(Duration half_life) {
  return {5.0 * (1 << 20), std::ldexp(1.0, 41), half_life};
}

int HistogramShape::bucket_count() const {
  return static_cast<int>(
             std::ceil(std::log(max_value * (kRatio - 1) / first_bucket + 1) / std::log(kRatio))) +
         1;
}

int HistogramShape::BucketOf(double value) const {
  if (!(value >= first_bucket)) return 0;
  const double bucket = std::log(value * (kRatio - 1) / first_bucket + 1) / std::log(kRatio);
  return static_cast<int>(std::min(bucket, static_cast<double>(bucket_count() - 1)));
}

double HistogramShape::StartOf(int bucket) const {
  return first_bucket * (std::pow(kRatio, bucket) - 1) / (kRatio - 1);
}

double& DecayingHistogram::WeightOf(int bucket) {
  if (weights_.empty()) first_ = bucket;
  if (bucket < first_) {
    weights_.insert(weights_.begin(), static_cast<size_t>(first_ - bucket), 0.0);
    first_ = bucket;
  }
  const auto index = static_cast<size_t>(bucket - first_);
  if (index >= weights_.size()) weights_.resize(index + 1);
  return weights_[index];
}

void DecayingHistogram::MoveReference(WallTime time) {
  const WallTime next = RoundTo(time, shape_.half_life);
  if (reference_.has_value()) {
    const double factor = std::exp2(std::round(HalfLives(*reference_ - next, shape_.half_life)));
    for (double& weight : weights_) weight *= factor;
    total_ *= factor;
  }
  reference_ = next;
}

void DecayingHistogram::Add(double value, WallTime time) {
  if (!reference_.has_value() || HalfLives(time - *reference_, shape_.half_life) > kMaxExponent) {
    MoveReference(time);
  }
  const double weight = std::exp2(HalfLives(time - *reference_, shape_.half_life));
  WeightOf(shape_.BucketOf(value)) += weight;
  total_ += weight;
}

bool DecayingHistogram::empty() const {
  return std::ranges::none_of(weights_, [](double weight) { return weight >= kNoWeight; });
}

double DecayingHistogram::Percentile(double p) const {
  const auto has_weight = [](double weight) { return weight >= kNoWeight; };
  const auto lowest = std::find_if(weights_.begin(), weights_.end(), has_weight);
  if (lowest == weights_.end()) return 0;
  const auto highest = std::find_if(weights_.rbegin(), weights_.rend(), has_weight).base() - 1;
  double sum = 0;
  auto at = lowest;
  for (; at < highest; ++at) {
    sum += *at;
    if (sum >= p * total_) break;
  }
  const int bucket = first_ + static_cast<int>(at - weights_.begin());
  return shape_.StartOf(bucket < shape_.bucket_count() - 1 ? bucket + 1 : bucket);
}

kube::Json DecayingHistogram::ToCheckpoint() const {
  kube::json::object buckets;
  const double largest = weights_.empty() ? 0 : *std::ranges::max_element(weights_);
  for (size_t i = 0; largest > 0 && i < weights_.size(); ++i) {
    const auto scaled = std::llround(weights_[i] / largest * kLargestCheckpointWeight);
    if (scaled > 0) buckets.emplace(std::to_string(first_ + static_cast<int>(i)), scaled);
  }
  kube::json::object checkpoint;
  if (reference_.has_value()) checkpoint["referenceTimestamp"] = kube::FormatTime(*reference_);
  checkpoint["bucketWeights"] = std::move(buckets);
  checkpoint["totalWeight"] = total_;
  return checkpoint;
}

StatusOr<DecayingHistogram> DecayingHistogram::FromCheckpoint(HistogramShape shape,
                                                              const kube::Json& json,
                                                              WallTime now) {
  DecayingHistogram histogram(shape);
  const kube::json::object* const buckets = kube::FindObject(json, {"bucketWeights"});
  if (buckets == nullptr || buckets->empty()) return histogram;
  const auto reference = kube::ParseTime(kube::FindString(json, {"referenceTimestamp"}));
  if (!reference.has_value() || *reference > now + shape.half_life) {
    return InvalidArgument("referenceTimestamp: expected a time of the past");
  }
  const kube::Json* const total = kube::Find(json, {"totalWeight"});
  if (total == nullptr || !total->is_number() || !(total->to_number<double>() >= 0)) {
    return InvalidArgument("totalWeight: expected a number that is not negative");
  }
  double sum = 0;
  for (const auto& [name, weight] : *buckets) {
    const auto bucket = ParseInt(std::string_view(name.data(), name.size()));
    if (!bucket || *bucket < 0 || *bucket >= shape.bucket_count() || !weight.is_number() ||
        !(weight.to_number<double>() >= 0)) {
      return InvalidArgument("bucketWeights: no bucket {} of that weight",
                             Quote(std::string_view(name.data(), name.size())));
    }
    histogram.WeightOf(static_cast<int>(*bucket)) = weight.to_number<double>();
    sum += weight.to_number<double>();
  }
  histogram.reference_ = reference;
  histogram.total_ = total->to_number<double>();
  for (double& weight : histogram.weights_) weight *= sum > 0 ? histogram.total_ / sum : 0;
  return histogram;
}

}  // namespace koord::koordlet
