// The demo on a small cluster, as its summary shows it.
#include "localcluster/demo/demo.h"

#include <gtest/gtest.h>

#include "api/keys.h"
#include "base/virtual_loop.h"
#include "kube/resources.h"
#include "localcluster/assembly/local_cluster.h"

namespace koord::localcluster::demo_test {
namespace {

class DemoTest : public testing::Test {
 protected:
  DemoTest() {
    LocalClusterOptions options;
    options.nodes = 2;
    options.demo = true;
    cluster_ = *LocalCluster::Start(loop_, options);
    EXPECT_TRUE(loop_.RunUntil([&] { return cluster_->ready(); }, 1min));
  }

  // The items of a namespace.
  kube::json::array List(const kube::Resource& resource, const std::string& ns) {
    kube::json::array items;
    bool done = false;
    cluster_->client().List(resource, ns, {}, [&](const StatusOr<kube::Json>& answer) {
      EXPECT_TRUE(answer.ok()) << Message(answer.status());
      if (answer.ok()) items = *kube::FindArray(*answer, {"items"});
      done = true;
    });
    EXPECT_TRUE(loop_.RunUntil([&] { return done; }, 10s));
    return items;
  }

  VirtualLoop loop_;
  std::unique_ptr<LocalCluster> cluster_;
};

TEST_F(DemoTest, FillsWhatServicesLeaveIdle) {
  loop_.Advance(1h);
  const Summary summary = cluster_->Summarize();
  const ClassSummary& services = summary.of(api::QosClass::kLs);
  const ClassSummary& batch = summary.of(api::QosClass::kBe);
  EXPECT_GT(services.pods, 5);
  EXPECT_GT(services.requested.cpu, 2 * services.used.cpu) << "they ask for more than they use";
  EXPECT_GT(batch.pods, 10);
  EXPECT_GT(summary.batch_requested.cpu, summary.batch.cpu * 7 / 10) << "of what is lent";
  EXPECT_EQ(batch.requested.cpu, summary.batch_requested.cpu) << "they live on nothing else";
  EXPECT_GT(summary.used.cpu, summary.cpu_without_best_effort() * 3 / 2);
  const auto pods = List(kube::kPods, "analytics");
  EXPECT_LT(pods.size(), 150u) << "nothing piles up";
  for (const kube::Json& pod : pods) {
    EXPECT_EQ(kube::FindString(pod, {"metadata", "labels", api::kLabelQosClass}), "BE");
    EXPECT_EQ(kube::FindString(pod, {"spec", "priorityClassName"}), "koord-batch");
  }
}

}  // namespace
}  // namespace koord::localcluster::demo_test
