#include "base/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/metrics/process_metrics.h"
#include "base/temp_dir.h"

namespace koord::metrics::metrics_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricsTest, WritesPrometheusTextInAFixedOrder) {
  Registry registry;
  Counters& attempts =
      registry.AddCounters("scheduler_schedule_attempts_total", "Attempts.", {"result", "profile"});
  attempts.With({"unschedulable", "p"}).Increment();
  attempts.With({"scheduled", "p"}).Increment(2.5);
  registry.AddGauge("a_gauge", "First by name.").Set(-3);
  EXPECT_EQ(registry.Text(),
            "# HELP a_gauge First by name.\n"
            "# TYPE a_gauge gauge\n"
            "a_gauge -3\n"
            "# HELP scheduler_schedule_attempts_total Attempts.\n"
            "# TYPE scheduler_schedule_attempts_total counter\n"
            "scheduler_schedule_attempts_total{profile=\"p\",result=\"scheduled\"} 2.5\n"
            "scheduler_schedule_attempts_total{profile=\"p\",result=\"unschedulable\"} 1\n");
}

TEST(MetricsTest, HistogramBucketsIncludeTheirBoundAndAddUp) {
  Registry registry;
  Histogram& histogram = registry.AddHistogram("h", "Help.", {1, 2});
  histogram.Observe(1);
  histogram.Observe(1.5);
  histogram.ObserveMany(3, 2);
  EXPECT_EQ(histogram.count(), 4u);
  EXPECT_EQ(registry.Text(),
            "# HELP h Help.\n"
            "# TYPE h histogram\n"
            "h_count 4\n"
            "h_sum 8.5\n"
            "h_bucket{le=\"1\"} 1\n"
            "h_bucket{le=\"2\"} 2\n"
            "h_bucket{le=\"+Inf\"} 4\n");
}

TEST(MetricsTest, LabelValuesAreEscaped) {
  Registry registry;
  registry.AddGauges("g", "Help.", {"l"}).With({"a\"b\\c\nd"}).Set(1);
  EXPECT_THAT(registry.Text(), HasSubstr(R"(g{l="a\"b\\c\nd"} 1)"));
}

TEST(MetricsTest, LargeAndSmallNumbersKeepTheirDigits) {
  Registry registry;
  Gauge& gauge = registry.AddGauge("g", "Help.");
  gauge.Set(1785000000);
  EXPECT_THAT(registry.Text(), HasSubstr("g 1785000000\n"));
  gauge.Set(0.1);
  EXPECT_THAT(registry.Text(), HasSubstr("g 0.1\n"));
}

TEST(MetricsTest, ASeriesStaysTheSame) {
  Registry registry;
  Counters& family = registry.AddCounters("c", "Help.", {"l"});
  Counter& first = family.With({"x"});
  EXPECT_EQ(&family.With({"x"}), &first);
  EXPECT_NE(&family.With({"y"}), &first);
  EXPECT_EQ(&registry.AddCounters("c", "Help.", {"l"}), &family) << "a second user of the name";
}

TEST(MetricsTest, BeyondTheLimitSeriesAreLumpedTogether) {
  Registry registry;
  Counters& family = registry.AddCounters("c", "Help.", {"pod", "ns"}, 2);
  for (const char* pod : {"a", "b", "c", "d"}) family.With({pod, "n"}).Increment();
  family.With({"a", "n"}).Increment();
  EXPECT_EQ(registry.Text(),
            "# HELP c Help.\n"
            "# TYPE c counter\n"
            "c{ns=\"n\",pod=\"a\"} 2\n"
            "c{ns=\"n\",pod=\"b\"} 1\n"
            "c{ns=\"other\",pod=\"other\"} 2\n");
}

TEST(MetricsTest, RemovedSeriesAreGone) {
  Registry registry;
  Gauges& family = registry.AddGauges("g", "Help.", {"pod"});
  family.With({"a"}).Set(1);
  family.With({"b"}).Set(1);
  family.Remove({"a"});
  EXPECT_THAT(registry.Text(), Not(HasSubstr("\"a\"")));
  EXPECT_THAT(registry.Text(), HasSubstr("\"b\""));
  family.Clear();
  EXPECT_EQ(registry.Text(), "") << "a family without series says nothing";
}

TEST(MetricsTest, Buckets) {
  EXPECT_EQ(ExponentialBuckets(1, 2, 4), (Buckets{1, 2, 4, 8}));
  EXPECT_EQ(LinearBuckets(0, 5, 3), (Buckets{0, 5, 10}));
  EXPECT_TRUE(ExponentialBuckets(1, 2, 0).empty());
}

TEST(MetricsTest, AnotherThreadMayReadMeanwhile) {
  Registry registry;
  Histogram& histogram = registry.AddHistogram("h", "Help.", DefaultBuckets());
  Counters& family = registry.AddCounters("c", "Help.", {"l"});
  std::thread reader([&] {
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(registry.Text().empty());
  });
  for (int i = 0; i < 1000; ++i) {
    histogram.Observe(i);
    family.With({std::to_string(i % 10)}).Increment();
  }
  reader.join();
  EXPECT_EQ(histogram.count(), 1000u);
}

TEST(MetricsDeathTest, MistakesOfTheProgramEndIt) {
  Registry registry;
  Counters& family = registry.AddCounters("c", "Help.", {"l"});
  EXPECT_DEATH(family.With({"a", "b"}), "a value for each of its labels.*metric=\"c\"");
  EXPECT_DEATH(registry.AddGauges("c", "Help.", {"l"}), "another type or other labels");
}

TEST(ProcessMetricsTest, ReadsProc) {
  const TempDir proc;
  std::filesystem::create_directories(proc.File("self/fd"));
  for (const char* name : {"0", "1", "2"}) std::ofstream(proc.File("self/fd/") + name) << "";
  std::ofstream(proc.File("stat")) << "cpu  1 2 3\nbtime 1700000000\nprocesses 9\n";
  // A program's name may hold spaces and parentheses.
  std::ofstream(proc.File("self/stat"))
      << "42 (a) b) S 1 1 1 0 -1 0 5 0 0 0 250 150 0 0 20 0 1 0 12300 1048576 7 0\n";
  Registry registry;
  AddProcessMetrics(registry, proc.path());
  const std::string text = registry.Text();
  const long ticks = sysconf(_SC_CLK_TCK);
  ASSERT_EQ(ticks, 100);
  EXPECT_THAT(text, HasSubstr("# TYPE process_cpu_seconds_total counter\n"
                              "process_cpu_seconds_total 4\n"));
  EXPECT_THAT(text, HasSubstr("process_open_fds 3\n"));
  EXPECT_THAT(text, HasSubstr("process_virtual_memory_bytes 1048576\n"));
  EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes " +
                              std::to_string(7 * sysconf(_SC_PAGESIZE)) + "\n"));
  EXPECT_THAT(text, HasSubstr("process_start_time_seconds 1700000123\n"));
}

TEST(ProcessMetricsTest, OfThisProcessAreThere) {
  Registry registry;
  AddProcessMetrics(registry);
  const std::string text = registry.Text();
  for (const char* name : {"process_cpu_seconds_total", "process_open_fds", "process_max_fds",
                           "process_resident_memory_bytes", "process_start_time_seconds"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + name + " ")) << text;
  }
}

TEST(ProcessMetricsTest, WhatCannotBeReadIsLeftOut) {
  const TempDir empty;
  Registry registry;
  AddProcessMetrics(registry, empty.path());
  EXPECT_THAT(registry.Text(), HasSubstr("process_max_fds"));
  EXPECT_THAT(registry.Text(), Not(HasSubstr("process_cpu_seconds_total")));
}

}  // namespace
}  // namespace koord::metrics::metrics_test
