#include "koordlet/prediction/prod_prediction.h"

#include <gtest/gtest.h>

#include <vector>

namespace koord::koordlet::prod_prediction_test {
namespace {

constexpr PriorityPeaks kNoUse{};
constexpr int64_t kManyMilli = 1'000'000;

PredictedPod Pod(int64_t request, std::optional<int64_t> peak) {
  PredictedPod pod{.request = {MilliCpu(request), request}};
  if (peak.has_value()) pod.peak = CpuAndMemory{MilliCpu(*peak), *peak};
  return pod;
}

std::optional<CpuAndMemory> Alloc(int64_t amount) { return CpuAndMemory{MilliCpu(amount), amount}; }

TEST(ProdPredictionTest, Vector15PodPredictor) {
  const std::vector<PredictedPod> pods{Pod(2000, 500)};
  EXPECT_EQ(PredictProd(pods, kNoUse, Alloc(3000), 10).reclaimable_by_pods->cpu.value(), 1450);
  EXPECT_EQ(PredictProd(pods, kNoUse, Alloc(1000), 10).reclaimable_by_pods->cpu.value(), 450);
  EXPECT_EQ(PredictProd(pods, kNoUse, Alloc(3000), 10).peak_by_pods->cpu.value(), 550);
}

TEST(ProdPredictionTest, Vector16PriorityPredictor) {
  const std::vector<PredictedPod> pods{Pod(1000, 0)};
  const PriorityPeaks peaks{.sys = {MilliCpu(300), 300}, .prod = {MilliCpu(500), 500}};
  const auto with = [&](int64_t alloc) { return PredictProd(pods, peaks, Alloc(alloc), 0); };
  EXPECT_EQ(with(3000).reclaimable_by_priority->cpu.value(), 200);
  EXPECT_EQ(with(900).reclaimable_by_priority->cpu.value(), 100);
  EXPECT_EQ(with(700).reclaimable_by_priority->cpu.value(), 0);
}

TEST(ProdPredictionTest, TheLesserIsReclaimableAndTheGreaterIsThePeak) {
  const std::vector<PredictedPod> pods{Pod(2000, 500)};
  const PriorityPeaks peaks{
      .sys = {MilliCpu(100), 0}, .prod = {MilliCpu(900), 0}, .none = {MilliCpu(200), 0}};
  const ProdPrediction prediction = PredictProd(pods, peaks, Alloc(kManyMilli), 0);
  EXPECT_EQ(prediction.reclaimable,
            (CpuAndMemory{MilliCpu(800), 1500}));  // cpu: 2000 - 1200, memory: 2000 - 500
  EXPECT_EQ(prediction.peak, (CpuAndMemory{MilliCpu(1200), 500}));
}

TEST(ProdPredictionTest, YoungPodsPeakAtTheirRequest) {
  std::vector<PredictedPod> pods{Pod(2000, 500), Pod(1000, 100)};
  pods[1].is_young = true;
  const ProdPrediction prediction = PredictProd(pods, kNoUse, Alloc(kManyMilli), 0);
  EXPECT_EQ(prediction.reclaimable_by_pods->cpu.value(), 1500);
  EXPECT_EQ(prediction.peak_by_pods->cpu.value(), 1500);
  EXPECT_EQ(prediction.reclaimable_by_priority->cpu.value(), 3000) << "requests count it";
}

TEST(ProdPredictionTest, AYoungPodThatEndsIsStillUnpredicted) {
  std::vector<PredictedPod> pods{Pod(1000, 100)};
  pods[0].is_young = pods[0].is_ending = true;
  const ProdPrediction prediction = PredictProd(pods, kNoUse, Alloc(kManyMilli), 0);
  EXPECT_EQ(prediction.peak_by_pods->cpu.value(), 1000);
  EXPECT_EQ(prediction.reclaimable_by_priority->cpu.value(), 0);
}

TEST(ProdPredictionTest, EndingPodsAreIgnored) {
  std::vector<PredictedPod> pods{Pod(1000, 100)};
  pods[0].is_ending = true;
  const ProdPrediction prediction = PredictProd(pods, kNoUse, Alloc(kManyMilli), 0);
  EXPECT_EQ(prediction.peak, CpuAndMemory{});
  EXPECT_EQ(prediction.reclaimable, CpuAndMemory{});
}

TEST(ProdPredictionTest, PodsWithoutAModelAreUnpredictedAndLeftOutOfTheClass) {
  const std::vector<PredictedPod> pods{Pod(1000, std::nullopt), Pod(400, 100)};
  const ProdPrediction prediction = PredictProd(pods, kNoUse, Alloc(kManyMilli), 0);
  EXPECT_EQ(prediction.peak_by_pods->cpu.value(), 1100);
  EXPECT_EQ(prediction.reclaimable_by_pods->cpu.value(), 300);
  EXPECT_EQ(prediction.reclaimable_by_priority->cpu.value(), 400);
}

TEST(ProdPredictionTest, APeakAboveTheRequestGivesNothingBack) {
  const std::vector<PredictedPod> pods{Pod(100, 500), Pod(1000, 200)};
  EXPECT_EQ(PredictProd(pods, kNoUse, Alloc(kManyMilli), 0).reclaimable_by_pods->cpu.value(), 800);
}

TEST(ProdPredictionTest, WithoutModelsOrNodeItCannotBeSaid) {
  const std::vector<PredictedPod> pods{Pod(1000, 100)};
  const ProdPrediction no_model = PredictProd(pods, std::nullopt, Alloc(kManyMilli), 0);
  EXPECT_EQ(no_model.reclaimable, std::nullopt);
  EXPECT_EQ(no_model.peak, std::nullopt);
  const ProdPrediction no_node = PredictProd(pods, kNoUse, std::nullopt, 0);
  EXPECT_EQ(no_node.reclaimable, std::nullopt);
  EXPECT_EQ(no_node.peak->cpu.value(), 100);
}

TEST(ProdPredictionTest, HugeRequestsDoNotOverflow) {
  const std::vector<PredictedPod> pods{Pod(INT64_MAX, 100), Pod(INT64_MAX, INT64_MAX)};
  const ProdPrediction prediction = PredictProd(pods, kNoUse, Alloc(INT64_MAX), 100);
  EXPECT_GE(prediction.reclaimable->cpu.value(), 0);
  EXPECT_EQ(prediction.peak->cpu.value(), INT64_MAX);
}

}  // namespace
}  // namespace koord::koordlet::prod_prediction_test
