#include "localcluster/nodes/load_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace koord::localcluster::load_model_test {
namespace {

using ::testing::HasSubstr;

constexpr WallTime kMidnight{std::chrono::sys_days{std::chrono::year{2026} / 7 / 1}};

LoadModels::Ptr MustFind(std::string_view text) {
  StatusOr<LoadModels::Ptr> model = LoadModels().Find(text);
  EXPECT_TRUE(model.ok()) << text << ": " << Message(model.status());
  return model.ok() ? *model : LoadModels().default_model();
}

TEST(LoadModel, FlatStaysWhereItIs) {
  for (Duration after : {Duration(0s), Duration(13h)}) {
    EXPECT_DOUBLE_EQ(MustFind("flat=0.4")->At(7, kMidnight + after).cpu, 0.4);
    EXPECT_DOUBLE_EQ(MustFind("flat=0.4")->At(7, kMidnight + after).memory, 0.4);
  }
}

TEST(LoadModel, DiurnalIsLowAtNightAndHighInTheAfternoon) {
  const auto model = MustFind("diurnal=low:0.2;high:0.8;noise:0");
  for (uint64_t seed : {1, 2, 3}) {
    EXPECT_NEAR(model->At(seed, kMidnight + 2h).cpu, 0.2, 0.03);
    EXPECT_NEAR(model->At(seed, kMidnight + 14h).cpu, 0.8, 0.03);
  }
}

TEST(LoadModel, NoiseStaysWithinItsShareAndDiffersBetweenPods) {
  const auto calm = MustFind("diurnal=noise:0");
  const auto noisy = MustFind("diurnal=noise:0.1");
  int different = 0;
  for (int i = 0; i < 100; ++i) {
    const WallTime time = kMidnight + i * Duration(1min);
    const double expected = calm->At(1, time).cpu;
    EXPECT_NEAR(noisy->At(1, time).cpu, expected, 0.1001 * expected);
    different +=
        noisy->At(1, time).cpu / expected != noisy->At(2, time).cpu / calm->At(2, time).cpu;
  }
  EXPECT_GT(different, 90);
}

TEST(LoadModel, ShorterPeriodsMakeShorterDays) {
  const auto model = MustFind("diurnal=period:1h;noise:0");
  EXPECT_NEAR(model->At(5, kMidnight).cpu, model->At(5, kMidnight + 1h).cpu, 1e-9);
  EXPECT_GT(std::abs(model->At(5, kMidnight).cpu - model->At(5, kMidnight + 30min).cpu), 0.1);
}

TEST(LoadModel, SpikesComeOnceAPeriodForTheirLength) {
  const auto model = MustFind("spike=low:0.1;high:2;every:10m;for:1m");
  int high = 0;
  for (int second = 0; second < 600; ++second) {
    const double cpu = model->At(9, kMidnight + second * Duration(1s)).cpu;
    EXPECT_TRUE(cpu == 0.1 || cpu == 2) << cpu;
    high += cpu == 2;
  }
  EXPECT_NEAR(high, 60, 1);
}

TEST(LoadModel, TracesHoldEachRowAndRepeat) {
  const auto trace = ParseTrace("seconds,cpu,memory\n0,0.1,0.5\n60,0.9,0.6\n");
  ASSERT_TRUE(trace.ok());
  const WallTime epoch{};
  EXPECT_DOUBLE_EQ((*trace)->At(1, epoch).cpu, 0.1);
  EXPECT_DOUBLE_EQ((*trace)->At(1, epoch + 59s).cpu, 0.1);
  EXPECT_DOUBLE_EQ((*trace)->At(1, epoch + 60s).cpu, 0.9);
  EXPECT_DOUBLE_EQ((*trace)->At(1, epoch + 119s).memory, 0.6);
  EXPECT_DOUBLE_EQ((*trace)->At(1, epoch + 120s).cpu, 0.1);
}

TEST(LoadModel, TraceErrorsNameTheLine) {
  struct Case {
    std::string_view csv, error;
  };
  const Case cases[] = {
      {"", "expected at least one row"},
      {"0,0.1\nx,0.2\n", "line 2: expected numbers"},
      {"0\n", "line 1: expected seconds,cpu[,memory]"},
      {"0,0.1\n\n0,0.2\n", "line 3: expected seconds to ascend"},
      {"0,-1\n", "line 1: expected numbers"},
  };
  for (const Case& c : cases) {
    const auto trace = ParseTrace(c.csv);
    ASSERT_FALSE(trace.ok()) << c.csv;
    EXPECT_THAT(std::string(Message(trace.status())), HasSubstr(c.error));
  }
}

TEST(LoadModel, ErrorsQuoteTheModelAndSayWhatWasExpected) {
  struct Case {
    std::string_view text, error;
  };
  const Case cases[] = {
      {"sinus", "load model \"sinus\": expected flat, diurnal, spike or trace"},
      {"flat=high", "expected a number from 0 to 1000"},
      {"diurnal=low", "expected name:value"},
      {"diurnal=low:x", "low:\"x\": expected a number"},
      {"diurnal=period:0s", "expected a time span"},
      {"spike=height:3", "unknown setting \"height\""},
      {"trace=/etc/passwd", "no trace of that name"},
  };
  for (const Case& c : cases) {
    const auto model = LoadModels().Find(c.text);
    ASSERT_FALSE(model.ok()) << c.text;
    EXPECT_THAT(std::string(Message(model.status())), HasSubstr(c.error)) << c.text;
  }
}

TEST(LoadModel, PodsNameTracesThatTheCommandLineLoaded) {
  const std::string path = ::testing::TempDir() + "/busy-day.csv";
  std::ofstream(path) << "0,0.25\n";
  LoadModels models;
  ASSERT_TRUE(models.SetDefault("trace=" + path).ok());
  ASSERT_TRUE(models.Find("trace=busy-day").ok());
  EXPECT_DOUBLE_EQ((*models.Find("trace=busy-day"))->At(1, kMidnight).cpu, 0.25);
  EXPECT_DOUBLE_EQ((*models.Find(""))->At(1, kMidnight).cpu, 0.25);
  EXPECT_FALSE(models.SetDefault("trace=/no/such/file.csv").ok());
}

}  // namespace
}  // namespace koord::localcluster::load_model_test
