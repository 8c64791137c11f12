#include "koordlet/prediction/decaying_histogram.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/virtual_loop.h"

namespace koord::koordlet::decaying_histogram_test {
namespace {

constexpr WallTime kStart = VirtualLoop::kStart;  // midnight: a multiple of both half-lives

TEST(HistogramShapeTest, BucketsGrowByFivePercent) {
  const HistogramShape cpu = CpuHistogramShape(12h);
  EXPECT_EQ(cpu.BucketOf(0), 0);
  EXPECT_EQ(cpu.BucketOf(-1), 0);
  EXPECT_EQ(cpu.BucketOf(0.0249), 0);
  EXPECT_EQ(cpu.BucketOf(0.026), 1);
  EXPECT_DOUBLE_EQ(cpu.StartOf(0), 0);
  EXPECT_NEAR(cpu.StartOf(1), 0.025, 1e-12);
  EXPECT_NEAR(cpu.StartOf(2), 0.025 * 2.05, 1e-12);
  // ceil(log(1024 * 0.05 / 0.025 + 1) / log(1.05)) + 1
  EXPECT_EQ(cpu.bucket_count(), 158);
  EXPECT_EQ(cpu.BucketOf(1e9), 157);
  EXPECT_EQ(MemoryHistogramShape(24h).bucket_count(), 205);
}

TEST(DecayingHistogramTest, EmptyIsZero) {
  const DecayingHistogram histogram(CpuHistogramShape(12h));
  EXPECT_TRUE(histogram.empty());
  EXPECT_EQ(histogram.Percentile(0.95), 0);
}

TEST(DecayingHistogramTest, PercentileIsTheEndOfItsBucket) {
  const HistogramShape shape = CpuHistogramShape(12h);
  DecayingHistogram histogram(shape);
  for (int i = 0; i < 95; ++i) histogram.Add(0.5, kStart);
  for (int i = 0; i < 5; ++i) histogram.Add(4, kStart);
  const double low = shape.StartOf(shape.BucketOf(0.5) + 1);
  const double high = shape.StartOf(shape.BucketOf(4) + 1);
  EXPECT_EQ(histogram.Percentile(0.60), low);
  EXPECT_EQ(histogram.Percentile(0.95), low);
  EXPECT_EQ(histogram.Percentile(0.98), high);
  EXPECT_EQ(histogram.Percentile(1), high);
  EXPECT_GT(low, 0.5);
  EXPECT_LT(low, 0.5 * 1.06 + 0.025);
}

TEST(DecayingHistogramTest, OnlyTheVeryLastBucketGivesItsStart) {
  const HistogramShape shape = CpuHistogramShape(12h);
  DecayingHistogram histogram(shape);
  histogram.Add(1e6, kStart);
  EXPECT_EQ(histogram.Percentile(1), shape.StartOf(157));
}

TEST(DecayingHistogramTest, SamplesCountHalfAfterAHalfLife) {
  const HistogramShape shape = CpuHistogramShape(12h);
  DecayingHistogram histogram(shape);
  for (int i = 0; i < 3; ++i) histogram.Add(8, kStart);
  for (int i = 0; i < 2; ++i) histogram.Add(1, kStart + 12h);
  // 3 of weight 1 against 2 of weight 2: the younger are 4/7 of all.
  const double low = shape.StartOf(shape.BucketOf(1) + 1);
  EXPECT_EQ(histogram.Percentile(0.57), low);
  EXPECT_GT(histogram.Percentile(0.58), low);
}

TEST(DecayingHistogramTest, AYearOfSamplesStaysFinite) {
  const HistogramShape shape = CpuHistogramShape(12h);
  DecayingHistogram histogram(shape);
  for (int hour = 0; hour < 365 * 24; ++hour) {
    histogram.Add(hour < 364 * 24 ? 100 : 1, kStart + std::chrono::hours(hour));
  }
  // The last day is 3/4 of all weight: 1 - 2^-2.
  EXPECT_EQ(histogram.Percentile(0.7), shape.StartOf(shape.BucketOf(1) + 1));
  EXPECT_EQ(histogram.Percentile(0.8), shape.StartOf(shape.BucketOf(100) + 1));
}

TEST(DecayingHistogramTest, ForgottenEndsAreEmpty) {
  const HistogramShape shape = CpuHistogramShape(12h);
  DecayingHistogram histogram(shape);
  histogram.Add(0.01, kStart);
  histogram.Add(500, kStart);
  // Beyond 100 half-lives everything is scaled down, the old samples to nothing.
  histogram.Add(2, kStart + 101 * 12h);
  const double now = shape.StartOf(shape.BucketOf(2) + 1);
  EXPECT_EQ(histogram.Percentile(0), now);
  EXPECT_EQ(histogram.Percentile(1), now);
}

TEST(DecayingHistogramTest, CheckpointHoldsRelativeWeights) {
  DecayingHistogram histogram(CpuHistogramShape(12h));
  for (int i = 0; i < 4; ++i) histogram.Add(0.01, kStart + 12h);
  histogram.Add(0.03, kStart + 12h);
  for (int i = 0; i < 100'000; ++i) histogram.Add(0.06, kStart + 12h);
  const kube::Json json = histogram.ToCheckpoint();
  // Bucket 0 has 4, 1 has 1 and 2 has 100000; scaled by 10000/100000 the one becomes nothing.
  EXPECT_EQ(kube::Serialize(*kube::Find(json, {"bucketWeights"})), R"({"2":10000})");
  EXPECT_EQ(kube::FindString(json, {"referenceTimestamp"}), "2026-07-01T12:00:00Z");
  EXPECT_EQ(kube::Find(json, {"totalWeight"})->to_number<double>(), 100'005);
}

TEST(DecayingHistogramTest, CheckpointBringsPercentilesBack) {
  const HistogramShape shape = MemoryHistogramShape(24h);
  DecayingHistogram histogram(shape);
  for (int i = 0; i < 1000; ++i) {
    histogram.Add(1e8 * (1 + i % 37), kStart + std::chrono::minutes(i));
  }
  const auto copy =
      DecayingHistogram::FromCheckpoint(shape, histogram.ToCheckpoint(), kStart + 1000min);
  ASSERT_TRUE(copy.ok()) << copy.status();
  for (const double p : {0.6, 0.9, 0.95, 0.98, 1.0}) {
    EXPECT_EQ(copy->Percentile(p), histogram.Percentile(p)) << p;
  }
}

TEST(DecayingHistogramTest, NonsenseIsNoCheckpoint) {
  for (
      const std::string_view text : {
          R"({"bucketWeights":{"1":10},"totalWeight":1})",
          R"({"referenceTimestamp":"x","bucketWeights":{"1":10},"totalWeight":1})",
          R"({"referenceTimestamp":"2026-07-01T00:00:00Z","bucketWeights":{"158":1},"totalWeight":1})",
          R"({"referenceTimestamp":"2026-07-01T00:00:00Z","bucketWeights":{"-1":1},"totalWeight":1})",
          R"({"referenceTimestamp":"2026-07-01T00:00:00Z","bucketWeights":{"a":1},"totalWeight":1})",
          R"({"referenceTimestamp":"2026-07-01T00:00:00Z","bucketWeights":{"1":-1},"totalWeight":1})",
          R"({"referenceTimestamp":"2026-07-01T00:00:00Z","bucketWeights":{"1":1},"totalWeight":-1})",
          R"({"referenceTimestamp":"2026-07-01T00:00:00Z","bucketWeights":{"1":1}})",
          R"({"referenceTimestamp":"2031-07-01T00:00:00Z","bucketWeights":{"1":1},"totalWeight":1})",
      }) {
    const auto json = kube::ParseJson(text);
    ASSERT_TRUE(json.ok());
    EXPECT_FALSE(DecayingHistogram::FromCheckpoint(CpuHistogramShape(12h), *json, kStart).ok())
        << text;
  }
}

}  // namespace
}  // namespace koord::koordlet::decaying_histogram_test
