#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/json.h"

namespace koord::koordlet {

// Buckets that grow by 5 % each: fine where numbers are small, and few.
struct HistogramShape {
  double first_bucket = 0;  // its width
  double max_value = 0;
  Duration half_life{0};

  int bucket_count() const;
  int BucketOf(double value) const;
  double StartOf(int bucket) const;
};

HistogramShape CpuHistogramShape(Duration half_life);     // cores
HistogramShape MemoryHistogramShape(Duration half_life);  // bytes

// How values were distributed lately: a sample counts half as much after each half-life. New
// samples weigh more instead of old ones less; before numbers get out of hand all are scaled down.
// Only the buckets between the smallest and the largest value take memory.
class DecayingHistogram {
 public:
  explicit DecayingHistogram(HistogramShape shape) : shape_(shape) {}

  void Add(double value, WallTime time);

  bool empty() const;
  // The end of the bucket that the p-th part (0 to 1) of all weight reaches into; 0 when empty.
  double Percentile(double p) const;

  // {"referenceTimestamp", "bucketWeights": {index: weight}, "totalWeight"}, the largest weight
  // being 10000.
  kube::Json ToCheckpoint() const;
  // A checkpoint of the future, made while the clock was wrong, is an error: what is added now
  // would weigh nothing.
  static StatusOr<DecayingHistogram> FromCheckpoint(HistogramShape shape, const kube::Json& json,
                                                    WallTime now);

  size_t bytes() const { return weights_.capacity() * sizeof(double); }

 private:
  void MoveReference(WallTime time);
  double& WeightOf(int bucket);

  HistogramShape shape_;
  std::optional<WallTime> reference_;  // the moment at which a sample weighs 1
  int first_ = 0;                      // bucket of weights_[0]
  std::vector<double> weights_;
  double total_ = 0;
};

}  // namespace koord::koordlet
