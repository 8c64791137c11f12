// A day of a full node on which pods come and go: koordlet must not grow.
#include <gtest/gtest.h>
#include <malloc.h>

#include <deque>

#include "base/log.h"
#include "koordlet/agent/koordlet_rig_testing.h"

namespace koord::koordlet::koordlet_churn_test {
namespace {

constexpr size_t kPods = 110;
constexpr int kChurned = 10'000;
constexpr auto kDay = std::chrono::hours(24);
// By then the store holds all the hours that it keeps, and as many pods have left as it remembers.
constexpr auto kWarmUp = std::chrono::hours(3);
// Longer than the usual intervals: what grows, grows with pods, and a day has to fit into a test.
constexpr auto kInterval = std::chrono::seconds(120);
constexpr int64_t kMaxGrowth = 1 << 20;

int64_t HeapInUse() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

class Day {
 public:
  Day() : machine_(LargeMachine(CgroupVersion::kV2)) {
    KoordletOptions options = BusyOptions();
    options.collectors.usage_interval = options.collectors.psi_interval = kInterval;
    options.collectors.system_outdated = 10 * kInterval;
    options.reconcile_interval = kInterval;
    options.qos.cpu_suppress_interval = kInterval;
    options.qos.memory_evict_interval = options.qos.cpu_evict_interval = kInterval;
    options.topology_interval = kInterval;
    koordlet_ =
        std::make_unique<Koordlet>(loop_, machine_.host(), client_, options, Koordlet::Parts{});
    TellOfNode(*koordlet_, LargeNode(), kBusySlo);
    koordlet_->OnNodeMetric(std::make_shared<api::NodeMetric>());
    for (size_t i = 0; i < kPods; ++i) AddPod();
    koordlet_->OnPods({pods_.begin(), pods_.end()});
    koordlet_->Start();
  }

  void LiveUntil(Duration end) {
    for (; now_ < end; now_ += kInterval) {
      const auto due = static_cast<int>(now_ * kChurned / Duration(kDay));
      for (; replaced_ < due; ++replaced_) {
        machine_.RemovePod(*pods_.front());
        pods_.pop_front();
        AddPod();
      }
      for (size_t i = 0; i < pods_.size(); i += 10) {
        machine_.UseCpu(machine_.ContainerDir(*pods_[i], "a"), kInterval / 4);
      }
      koordlet_->OnPods({pods_.begin(), pods_.end()});
      loop_.Advance(kInterval);
    }
  }

  Koordlet& koordlet() { return *koordlet_; }
  size_t requests() const { return cluster_.requests; }

 private:
  void AddPod() {
    pods_.push_back(PodOfThree(next_++));
    machine_.AddPod(*pods_.back());
  }

  VirtualLoop loop_;
  SilentCluster cluster_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, cluster_), {}};
  TestHost machine_;
  std::deque<std::shared_ptr<const kube::Pod>> pods_;
  std::unique_ptr<Koordlet> koordlet_;
  Duration now_{};
  int replaced_ = 0;
  int next_ = 0;
};

TEST(KoordletChurnTest, ADayOfComingAndGoingPodsLeavesNothingBehind) {
  log::SetSink([](std::string_view) {});
  Day day;
  day.LiveUntil(kWarmUp);
  EXPECT_TRUE(day.koordlet().acting());
  const int64_t before = HeapInUse();
  day.LiveUntil(kDay);
  const int64_t growth = HeapInUse() - before;
  log::SetSink(nullptr);
  EXPECT_EQ(day.koordlet().state().pods()->size(), kPods);
  EXPECT_GT(day.requests(), 24 * 50u) << "it has reported all the day";
  EXPECT_LT(growth, kMaxGrowth);
  RecordProperty("growth_bytes", std::to_string(growth));
  fmt::print("{} pods in {} hours: the heap grew by {} KiB to {} KiB\n", kChurned, 24,
             growth / 1024, HeapInUse() / 1024);
}

}  // namespace
}  // namespace koord::koordlet::koordlet_churn_test
