#include "koordlet/prediction/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "base/virtual_loop.h"

namespace koord::koordlet::predictor_test {
namespace {

using testing::HasSubstr;

class PredictorTest : public testing::Test {
 protected:
  PredictorTest() {
    options_.checkpoint_directory = directory_.File("checkpoints");
    options_.node_name = "n";
    SetNode(R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"100","memory":"100Gi"}}})");
  }

  void SetNode(std::string_view text) {
    state_.SetNode(
        std::make_shared<const kube::Node>(*kube::Decode<kube::Node>(*kube::ParseJson(text))));
  }

  // A pod of this priority that was made long ago.
  void AddPod(const std::string& uid, int priority, std::string_view cpu) {
    auto pod = std::make_shared<kube::Pod>();
    pod->metadata.uid = pod->metadata.name = uid;
    pod->metadata.creation_timestamp = VirtualLoop::kStart - 48h;
    pod->spec.priority = priority;
    NodePod node_pod{.pod = pod};
    node_pod.requests["cpu"] = *kube::Quantity::Parse(cpu);
    node_pod.requests["memory"] = *kube::Quantity::Parse("1Gi");
    pods_.push_back(node_pod);
    state_.SetPods(std::make_shared<const NodePods>(pods_));
  }

  // Every pod uses a core and 100 MiB, the node a core more.
  void Run(Duration time) {
    for (Duration t{0}; t < time; t += 10s) {
      for (const NodePod& pod : pods_) {
        store_.Append({Metric::kPodCpu, pod.uid()}, 1);
        store_.Append({Metric::kPodMemory, pod.uid()}, 100 << 20);
      }
      store_.Append({Metric::kNodeCpu}, 1.0 + static_cast<double>(pods_.size()));
      store_.Append({Metric::kNodeMemory}, 10'000'000'000.0);
      loop_.Advance(10s);
    }
  }

  ProdPrediction Predict(Predictor& predictor) {
    std::vector<const NodePod*> measured;
    for (const NodePod& pod : pods_) measured.push_back(&pod);
    return predictor.Predict(measured);
  }

  std::unique_ptr<Predictor> Make() {
    auto predictor =
        std::make_unique<Predictor>(loop_, state_, store_, internal_, external_, options_);
    predictor->Start();
    return predictor;
  }

  std::vector<std::string> Files() const {
    return CheckpointFiles(options_.checkpoint_directory).List();
  }

  TempDir directory_;
  VirtualLoop loop_;
  NodeState state_;
  MetricStore store_{loop_.clock(), {}};
  metrics::Registry internal_;
  metrics::Registry external_;
  Predictor::Options options_;
  NodePods pods_;
};

// A bucket is at most 5 % wider than what fell into it, plus the first one's width.
void ExpectPeak(int64_t peak, int64_t value, int64_t first_bucket) {
  EXPECT_GE(peak, value);
  EXPECT_LE(peak, value * 105 / 100 + first_bucket);
}

TEST_F(PredictorTest, LearnsPodsClassesNodeAndSystem) {
  AddPod("prod", 9500, "4");
  AddPod("batch", 5500, "1");
  options_.safety_margin_percent = 0;
  auto predictor = Make();
  EXPECT_EQ(Predict(*predictor).reclaimable, std::nullopt) << "knows nothing yet";
  EXPECT_THAT(external_.Text(),
              HasSubstr("koordlet_node_resource_priority_reclaimable_status{node=\"n\","
                        "priority=\"koord-prod\"} 1"));
  Run(3min);
  EXPECT_EQ(predictor->model_count(), 2 + 5 + 2);
  const ProdPrediction prediction = Predict(*predictor);
  ASSERT_TRUE(prediction.reclaimable.has_value());
  ExpectPeak(prediction.peak_by_pods->cpu.value(), 1000, 25);
  // prod 1 + sys 1 + none 0, the latter being the end of the first bucket
  ExpectPeak(prediction.peak_by_priority->cpu.value(), 2000, 75);
  EXPECT_EQ(prediction.reclaimable->cpu.value(), 4000 - prediction.peak_by_priority->cpu.value());
  EXPECT_THAT(external_.Text(),
              HasSubstr("koordlet_node_resource_priority_reclaimable_status{node=\"n\","
                        "priority=\"koord-prod\"} 0"));
  EXPECT_THAT(internal_.Text(),
              HasSubstr("predictor=\"minPredictor\",resource=\"cpu\",unit=\"core\""));
}

TEST_F(PredictorTest, RawAllocatableCountsWhereThereIsOne) {
  AddPod("prod", 9500, "4");
  auto predictor = Make();
  Run(2min);
  SetNode(R"({"metadata":{"name":"n","annotations":{"node.koordinator.sh/raw-allocatable":
      "{\"cpu\":\"1\",\"memory\":\"1Gi\"}"}},"status":{"allocatable":{"cpu":"100"}}})");
  EXPECT_EQ(Predict(*predictor).reclaimable->cpu.value(), 0);
}

TEST_F(PredictorTest, ARestartFindsTheModels) {
  AddPod("prod", 9500, "4");
  AddPod("gone", 9500, "4");
  {
    auto predictor = Make();
    Run(5min);
    predictor->SaveAll();
  }
  ASSERT_EQ(Files().size(), 2 + 5 + 2);
  std::ofstream(options_.checkpoint_directory + "/__node-koord-mid__") << "{broken";
  std::ofstream(options_.checkpoint_directory + "/stranger") << "{}";
  pods_.pop_back();
  state_.SetPods(std::make_shared<const NodePods>(pods_));

  auto predictor = Make();
  EXPECT_EQ(predictor->model_count(), 1 + 4 + 2);
  EXPECT_EQ(Files().size(), 1 + 4 + 2);
  EXPECT_TRUE(Predict(*predictor).reclaimable.has_value());
}

TEST_F(PredictorTest, NothingIsRemovedBeforeThePodsAreKnown) {
  std::filesystem::create_directories(options_.checkpoint_directory);
  std::ofstream(options_.checkpoint_directory + "/some-pod") << "{}";
  auto predictor = Make();
  loop_.Advance(10min);
  EXPECT_EQ(Files().size(), 1);
  EXPECT_EQ(predictor->model_count(), 0);
}

TEST_F(PredictorTest, CheckpointsAreWrittenAFewAtATimeForTheOwnerOnly) {
  for (int i = 0; i < 30; ++i) AddPod(fmt::format("pod-{}", i), 9500, "1");
  auto predictor = Make();
  Run(10min + 30s);
  EXPECT_TRUE(Files().empty()) << "each model at most every ten minutes";
  Run(1min);
  EXPECT_EQ(Files().size(), 12);
  Run(3min);
  EXPECT_EQ(Files().size(), 30 + 5 + 2);
  struct stat info {};
  ASSERT_EQ(stat((options_.checkpoint_directory + "/pod-0").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
}

TEST_F(PredictorTest, ModelsOfGonePodsExpireWithTheirFiles) {
  AddPod("gone", 9500, "1");
  auto predictor = Make();
  Run(15min);
  EXPECT_THAT(Files(), testing::Contains("gone"));
  pods_.clear();
  state_.SetPods(std::make_shared<const NodePods>());
  Run(28min);
  EXPECT_EQ(predictor->model_count(), 8);
  Run(4min);
  EXPECT_EQ(predictor->model_count(), 7);
  EXPECT_THAT(Files(), testing::Not(testing::Contains("gone")));
}

TEST_F(PredictorTest, AUidThatIsNoFileNameStaysInMemory) {
  AddPod("../../escape", 9500, "1");
  auto predictor = Make();
  Run(5min);
  predictor->SaveAll();
  EXPECT_FALSE(std::filesystem::exists(directory_.File("../escape")));
  EXPECT_EQ(Files().size(), 7);
  EXPECT_EQ(predictor->model_count(), 8);
}

TEST_F(PredictorTest, ModelsOf110PodsFitIn1MiB) {
  options_.checkpoint_directory.clear();
  for (int i = 0; i < 110; ++i) AddPod(fmt::format("pod-{}", i), 9500, "1");
  auto predictor = Make();
  for (int minute = 0; minute < 200; ++minute) {
    for (int i = 0; i < 110; ++i) {
      // Through all buckets.
      store_.Append({Metric::kPodCpu, pods_[i].uid()}, 0.01 * std::pow(1.06, minute));
      store_.Append({Metric::kPodMemory, pods_[i].uid()}, 1e6 * std::pow(1.07, minute));
    }
    loop_.Advance(1min);
  }
  EXPECT_EQ(predictor->model_count(), 115);
  EXPECT_LT(predictor->bytes(), 1 << 20);
}

}  // namespace
}  // namespace koord::koordlet::predictor_test
