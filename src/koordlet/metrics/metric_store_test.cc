#include "koordlet/metrics/metric_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>

#include "base/file.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "base/virtual_loop.h"

namespace koord::koordlet::metric_store_test {
namespace {

constexpr MetricKey kCpu{Metric::kNodeCpu};
constexpr MetricKey kMemory{Metric::kNodeMemory};
constexpr MetricKey kPod{Metric::kPodCpu, "uid"};

class MetricStoreTest : public testing::Test {
 protected:
  void AppendEvery(Duration step, int count, const MetricKey& key, auto value_of) {
    for (int i = 0; i < count; ++i) {
      store_.Append(key, value_of(i));
      loop_.Advance(step);
    }
  }

  VirtualLoop loop_;
  MetricStore store_{loop_.clock(), {}};
};

TEST_F(MetricStoreTest, Vector14Percentiles) {
  for (const double value : {800, 100, 200, 600, 700, 0, 500, 400, 300}) {
    store_.Append(kCpu, value);
    loop_.Advance(1s);
  }
  const auto summary = store_.Summarize(kCpu, 1min);
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->count, 9);
  EXPECT_EQ(summary->p90, 700);
  EXPECT_EQ(summary->p50, 300);
  EXPECT_EQ(summary->average, 400);
  EXPECT_EQ(summary->last, 300);
  EXPECT_EQ(summary->newest - summary->oldest, 8s);
}

TEST_F(MetricStoreTest, Vector14SingleValueIsEveryPercentile) {
  store_.Append(kCpu, 1000);
  const auto summary = store_.Summarize(kCpu, 1min);
  ASSERT_TRUE(summary.has_value());
  for (const double p : {summary->p50, summary->p90, summary->p95, summary->p99}) {
    EXPECT_EQ(p, 1000);
  }
}

TEST(PercentileIndexTest, RoundsInSinglePrecision) {
  // 0.95f * 20 is 19 as a float, though a little less in double precision.
  EXPECT_EQ(PercentileIndex(20, 0.95F), 18);
  EXPECT_EQ(PercentileIndex(100, 0.99F), 98);
  EXPECT_EQ(PercentileIndex(1, 0.5F), 0);
  EXPECT_EQ(PercentileIndex(2, 0.5F), 0);
}

TEST_F(MetricStoreTest, NothingAppendedIsNothing) {
  EXPECT_EQ(store_.Summarize(kCpu, 1h), std::nullopt);
  EXPECT_EQ(store_.Average(kCpu, 1h), std::nullopt);
  EXPECT_EQ(store_.Last(kCpu, 1h), std::nullopt);
}

TEST_F(MetricStoreTest, WindowsIncludeBothEnds) {
  AppendEvery(1s, 3, kCpu, [](int i) { return i; });  // at 0, 1 and 2; now is 3
  EXPECT_EQ(store_.Average(kCpu, 3s)->count, 3);
  EXPECT_EQ(store_.Average(kCpu, 2s)->count, 2);
  EXPECT_EQ(store_.Average(kCpu, 1s)->count, 1);
  EXPECT_EQ(store_.Average(kCpu, 999ms), std::nullopt);
  EXPECT_EQ(store_.Last(kCpu, 1s), 2);
  EXPECT_EQ(store_.Last(kCpu, 999ms), std::nullopt);
}

TEST_F(MetricStoreTest, SeriesAreToldApartByMetricSubjectAndDetail) {
  store_.Append({Metric::kPodCpu, "a"}, 1);
  store_.Append({Metric::kPodCpu, "b"}, 2);
  store_.Append({Metric::kPodMemory, "a"}, 3);
  store_.Append({Metric::kPodPressure, "a", "0"}, 4);
  store_.Append({Metric::kPodPressure, "a", "1"}, 5);
  EXPECT_EQ(store_.Last({Metric::kPodCpu, "a"}, 1s), 1);
  EXPECT_EQ(store_.Last({Metric::kPodCpu, "b"}, 1s), 2);
  EXPECT_EQ(store_.Last({Metric::kPodMemory, "a"}, 1s), 3);
  EXPECT_EQ(store_.Last({Metric::kPodPressure, "a", "1"}, 1s), 5);
  EXPECT_EQ(store_.Last({Metric::kPodPressure, "a"}, 1s), std::nullopt);
  EXPECT_EQ(store_.series(), 5);
}

TEST_F(MetricStoreTest, WhatIsNoNumberIsIgnored) {
  store_.Append(kCpu, 1);
  loop_.Advance(1s);
  store_.Append(kCpu, std::nan(""));
  store_.Append(kCpu, std::numeric_limits<double>::infinity());
  store_.Append(kCpu, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(store_.Average(kCpu, 1min)->count, 1);
  EXPECT_EQ(store_.Last(kCpu, 1min), 1);
}

TEST_F(MetricStoreTest, MemoryInPagesComesBackExactly) {
  constexpr double kPage = 4096;
  constexpr double kFirst = 28'123'457 * kPage;  // not a float
  std::vector<double> values;
  AppendEvery(1s, 60, kMemory, [&](int i) {
    values.push_back(kFirst + (i * 7919 % 60) * kPage);
    return values.back();
  });
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const auto summary = store_.Summarize(kMemory, 1min);
  EXPECT_EQ(summary->average, sum / 60);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(summary->p95, values[56]);
}

TEST_F(MetricStoreTest, EveryValueIsKeptWithinAMillionth) {
  Random random(7);
  for (const double scale : {1e-6, 1.0, 1e3, 1e12}) {
    for (int i = 0; i < 300; ++i) {
      // Also from very large to very small within one series.
      const double value = scale * std::pow(10, -3 * static_cast<int>(random.Below(4))) *
                           (1 + static_cast<double>(random.Below(1000)));
      loop_.Advance(1s);
      store_.Append(kCpu, value);
      EXPECT_NEAR(store_.Average(kCpu, 0s)->average, value, 1e-6 * value);
    }
  }
}

TEST_F(MetricStoreTest, NodePercentilesOfHalfAnHourAreOfEveryValue) {
  AppendEvery(1s, 7200, kCpu, [](int i) { return i % 100 == 0 ? 50 : 1; });
  const auto summary = store_.Summarize(kCpu, 30min);
  EXPECT_EQ(summary->count, 1800);
  EXPECT_EQ(summary->p95, 1);
  EXPECT_EQ(summary->p99, 1);
  EXPECT_NEAR(summary->average, 1.49, 1e-9);
}

TEST_F(MetricStoreTest, PodAveragesStayRightBeyondTheFullResolution) {
  AppendEvery(1s, 3600, kPod, [](int i) { return i < 1800 ? 2 : 4; });
  EXPECT_NEAR(store_.Average(kPod, 10min)->average, 4, 1e-9);
  const auto hour = store_.Average(kPod, 1h);
  EXPECT_EQ(hour->count, 3600);
  EXPECT_NEAR(hour->average, 3, 1e-6);
  const auto most = store_.Average(kPod, 45min);  // 15 minutes of 2, 30 of 4
  EXPECT_NEAR(most->average, (900 * 2 + 1800 * 4) / 2700.0, 0.005);
  EXPECT_NEAR(static_cast<double>(most->count), 2700, 2);
}

TEST_F(MetricStoreTest, AWholeDayKeepsItsAverageInLittleSpace) {
  AppendEvery(1s, 11 * 3600, kPod, [](int i) { return i % 10; });
  const auto all = store_.Average(kPod, 11h);
  EXPECT_EQ(all->count, 11 * 3600);
  EXPECT_NEAR(all->average, 4.5, 1e-4);
  EXPECT_LT(store_.bytes(), 32 << 10);
}

TEST_F(MetricStoreTest, GapsDoNotShiftTimes) {
  store_.Append(kPod, 1);
  loop_.Advance(5min);
  store_.Append(kPod, 3);
  loop_.Advance(1s);
  EXPECT_EQ(store_.Average(kPod, 1min)->average, 3);
  const auto both = store_.Average(kPod, 6min);
  EXPECT_EQ(both->average, 2);
  EXPECT_EQ(both->newest - both->oldest, 5min);
}

TEST_F(MetricStoreTest, WallClockJumpsChangeNothing) {
  AppendEvery(1s, 10, kCpu, [](int) { return 1; });
  loop_.JumpWallClock(-1h);
  AppendEvery(1s, 10, kCpu, [](int) { return 3; });
  EXPECT_EQ(store_.Average(kCpu, 1min)->average, 2);
}

TEST_F(MetricStoreTest, SeriesOfThePastAreForgotten) {
  AppendEvery(1s, 100, kPod, [](int) { return 1; });
  loop_.Advance(10min);
  store_.CollectGarbage();
  EXPECT_EQ(store_.series(), 1);
  EXPECT_NEAR(store_.Average(kPod, 1h)->average, 1, 1e-9);
  loop_.Advance(21min);
  store_.CollectGarbage();
  EXPECT_EQ(store_.series(), 0);
  EXPECT_EQ(store_.Average(kPod, 1h), std::nullopt);
}

TEST_F(MetricStoreTest, AtTheLimitTheOldestGoesFirst) {
  MetricStore small(loop_.clock(), {.max_bytes = 64 << 10});
  small.Append({Metric::kPodCpu, "gone"}, 1);
  for (int i = 0; i < 2000; ++i) {
    loop_.Advance(1s);
    for (int pod = 0; pod < 20; ++pod) small.Append({Metric::kPodCpu, std::to_string(pod)}, i);
  }
  EXPECT_LT(small.bytes(), 96 << 10);
  EXPECT_EQ(small.Last({Metric::kPodCpu, "gone"}, 1h), std::nullopt);
  for (int pod = 0; pod < 20; ++pod) {
    EXPECT_EQ(small.Last({Metric::kPodCpu, std::to_string(pod)}, 1s), 1999);
    EXPECT_EQ(small.Average({Metric::kPodCpu, std::to_string(pod)}, 10s)->count, 11);
  }
}

TEST_F(MetricStoreTest, SlotsFindTheirSeriesAgainWhenItWasForgotten) {
  MetricSlot slot;
  store_.Append(kPod, 1, slot);
  store_.Append(kPod, 2, slot);
  store_.Append({Metric::kPodCpu, "other"}, 7);
  EXPECT_EQ(store_.Average(kPod, 1s)->count, 2);
  loop_.Advance(31min);
  store_.CollectGarbage();
  ASSERT_EQ(store_.series(), 0);
  store_.Append(kPod, 3, slot);
  EXPECT_EQ(store_.Last(kPod, 1s), 3);
  EXPECT_EQ(store_.Average(kPod, 1h)->count, 1);
}

TEST_F(MetricStoreTest, SlotsStandTheLimit) {
  MetricStore small(loop_.clock(), {.max_bytes = 16 << 10});
  std::array<MetricSlot, 100> slots;
  for (int i = 0; i < 2000; ++i) {
    loop_.Advance(1s);
    for (size_t pod = 0; pod < slots.size(); ++pod) {
      const std::string uid = std::to_string(pod);
      small.Append({Metric::kPodCpu, uid}, i, slots[pod]);
      EXPECT_EQ(small.Last({Metric::kPodCpu, uid}, 1s), i);
    }
  }
}

struct Churn {
  // As many series as three containers of a pod have.
  static void AppendPod(MetricStore& store, int pod) {
    const std::string uid = fmt::format("0f6f3a3c-8a5e-4f4f-9a53-{:012}", pod);
    store.Append({Metric::kPodCpu, uid}, 0.25 + pod);
    store.Append({Metric::kPodMemory, uid}, 3.0e8 + pod * 4096);
    store.Append({Metric::kPodColdMemory, uid}, 0);
    for (int i = 0; i < 3; ++i) {
      const std::string id = fmt::format("{:064x}", pod * 3 + i);
      store.Append({Metric::kContainerCpu, id}, 0.125 + pod);
      store.Append({Metric::kContainerColdMemory, id}, 1.0e8 + pod * 4096);
      store.Append({Metric::kContainerThrottled, id}, 0);
    }
  }
  static void AppendNode(MetricStore& store) {
    for (int metric = 0; metric < static_cast<int>(Metric::kPodCpu); ++metric) {
      store.Append({static_cast<Metric>(metric), "", "0"}, 1.5);
      store.Append({static_cast<Metric>(metric), "", "1"}, 1.5);
    }
  }
};

TEST_F(MetricStoreTest, AnHourOf110PodsFitsIn12MiB) {
  for (int second = 0; second < 3600; ++second) {
    Churn::AppendNode(store_);
    for (int pod = 0; pod < 110; ++pod) Churn::AppendPod(store_, pod);
    loop_.Advance(1s);
    if (second % 300 == 0) store_.CollectGarbage();
  }
  EXPECT_GT(store_.series(), 1340);
  RecordProperty("bytes", static_cast<int>(store_.bytes()));
  EXPECT_LT(store_.bytes(), 12 << 20);
  EXPECT_GT(store_.bytes(), 4 << 20) << "suspiciously little: is it counted?";
}

TEST_F(MetricStoreTest, TenThousandPodsInADayLeaveMemoryFlat) {
  // 10,000 pods in 24 hours; a sample every 10 seconds keeps the test short.
  constexpr int kPerHour = 10'000 / 24;
  size_t after_two_hours = 0;
  for (int step = 0; step < 24 * 360; ++step) {
    const int first = step * kPerHour / 360;
    for (int pod = first; pod < first + 110; ++pod) Churn::AppendPod(store_, pod);
    loop_.Advance(10s);
    if (step % 30 == 0) store_.CollectGarbage();
    if (step == 2 * 360) after_two_hours = store_.bytes();
  }
  EXPECT_LT(store_.bytes(), after_two_hours + (1 << 20));
}

class MetricFileTest : public MetricStoreTest {
 protected:
  std::string path() const { return directory_.File("metrics.bin"); }

  TempDir directory_;
};

TEST_F(MetricFileTest, ARestartFindsTheData) {
  AppendEvery(1s, 7200, kCpu, [](int i) { return i; });
  AppendEvery(1s, 1200, {Metric::kPodPressure, "uid", "1"}, [](int i) { return 1e9 + i; });
  ASSERT_TRUE(store_.Save(directory_.path()).ok());

  // Another process: its steady clock starts elsewhere, two minutes later by the wall clock.
  VirtualLoop later(loop_.clock().Now() + 2min);
  MetricStore loaded(later.clock(), {});
  ASSERT_TRUE(loaded.Load(directory_.path()).ok());
  loop_.Advance(2min);
  EXPECT_EQ(loaded.series(), 2);
  for (const MetricKey& key : {kCpu, MetricKey{Metric::kPodPressure, "uid", "1"}}) {
    for (const Duration window : {Duration(10min), Duration(30min), Duration(3h)}) {
      const auto expected = store_.Summarize(key, window);
      const auto found = loaded.Summarize(key, window);
      ASSERT_EQ(found.has_value(), expected.has_value());
      if (!found.has_value()) continue;
      EXPECT_NEAR(static_cast<double>(found->count), static_cast<double>(expected->count), 2);
      EXPECT_NEAR(found->average, expected->average, 1e-3 * expected->average);
      EXPECT_EQ(found->last, expected->last);
      EXPECT_NEAR(found->p95, expected->p95, 1e-3 * expected->p95);
    }
  }
  later.Advance(1s);
  loaded.Append(kCpu, 1);
  EXPECT_EQ(loaded.Last(kCpu, 1s), 1);
}

TEST_F(MetricFileTest, OnlyTheOwnerMayReadIt) {
  store_.Append(kCpu, 1);
  ASSERT_TRUE(store_.Save(directory_.path()).ok());
  ASSERT_TRUE(store_.Save(directory_.path()).ok());
  struct stat info {};
  ASSERT_EQ(stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
  EXPECT_FALSE(std::filesystem::exists(path() + ".tmp"));
}

TEST_F(MetricFileTest, NoFileIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(store_.Load(directory_.path())));
}

TEST_F(MetricFileTest, BrokenFilesLoadNothing) {
  AppendEvery(1s, 200, kCpu, [](int i) { return i; });
  ASSERT_TRUE(store_.Save(directory_.path()).ok());
  const std::string good = *ReadFile(path());
  std::vector<std::string> broken{"",
                                  "x",
                                  good.substr(0, 20),
                                  good.substr(0, good.size() - 1),
                                  good + "x",
                                  std::string(good.size(), '\0')};
  for (size_t i = 0; i < good.size(); i += 97) {
    broken.push_back(good);
    broken.back()[i] ^= 1;
  }
  for (const std::string& text : broken) {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << text;
    MetricStore loaded(loop_.clock(), {});
    EXPECT_FALSE(loaded.Load(directory_.path()).ok());
    EXPECT_EQ(loaded.series(), 0);
  }
}

TEST_F(MetricFileTest, FilesOfAnotherTimeLoadNothing) {
  store_.Append(kCpu, 1);
  ASSERT_TRUE(store_.Save(directory_.path()).ok());
  for (const Duration by : {Duration(13h), Duration(-1h)}) {
    VirtualLoop then(loop_.clock().Now() + by);
    MetricStore loaded(then.clock(), {});
    EXPECT_FALSE(loaded.Load(directory_.path()).ok());
    EXPECT_EQ(loaded.series(), 0);
  }
}

TEST_F(MetricFileTest, TheDirectoryIsMade) {
  const std::string fresh = directory_.File("new/data");
  ASSERT_TRUE(store_.Save(fresh).ok());
  EXPECT_TRUE(store_.Load(fresh).ok());
}

TEST_F(MetricFileTest, ADirectoryThatCannotBeMadeIsAnError) {
  ASSERT_TRUE(store_.Save(directory_.path()).ok());
  EXPECT_FALSE(store_.Save(directory_.File("metrics.bin")).ok()) << "that is a file";
}

}  // namespace
}  // namespace koord::koordlet::metric_store_test
