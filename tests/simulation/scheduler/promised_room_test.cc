#include <gtest/gtest.h>

#include "simulation/scheduler/scheduler_bed_testing.h"

// Room that is promised to an important pod keeps others out. When the promise ends, those who fit
// now are tried at once: long before the queue's periodic flush after five minutes.
namespace koord::localcluster::promised_room_test {
namespace {

constexpr Duration kSoon = 30s;

class PromisedRoom : public ::testing::Test, protected SchedulerBed {
 protected:
  void SetUp() override {
    AddPriorityClass("high", 1000);
    // 2 of its 4 CPUs are taken by somebody whom nobody can displace.
    AddNode("n1");
    kube::Json filler = Pod("filler", "2");
    kube::At(filler, {"spec", "priorityClassName"}) = "high";
    kube::At(filler, {"spec", "nodeName"}) = "n1";
    Create(kPods, filler);
    // Promised 3 of them, which are not there; and it may not be tried yet.
    kube::Json promised = Pod("promised", "3");
    kube::At(promised, {"spec", "priorityClassName"}) = "high";
    kube::At(promised, {"spec", "schedulingGates"}) =
        kube::json::array{{{"name", "example.com/wait"}}};
    Create(kPods, promised);
    PatchPod("promised/status", {{"status", {{"nominatedNodeName", "n1"}}}});
    kube::Json low = Pod("low", "1500m");
    kube::At(low, {"spec", "nodeSelector", "kubernetes.io/hostname"}) = "n1";
    Create(kPods, low);
    server.loop.Advance(kSoon);
    ASSERT_EQ(NodeOf("low"), "");
  }

  void LetPromisedGo() {
    PatchPod("promised", {{"spec", {{"schedulingGates", nullptr}}}});
    server.loop.Advance(kSoon);
  }
};

TEST_F(PromisedRoom, IsFreeWhenItsOwnerCannotUseIt) {
  LetPromisedGo();
  EXPECT_EQ(NodeOf("promised"), "");
  EXPECT_EQ(NodeOf("low"), "n1");
}

TEST_F(PromisedRoom, IsFreeWhenItsOwnerGoesElsewhere) {
  AddNode("n2");
  LetPromisedGo();
  EXPECT_EQ(NodeOf("promised"), "n2");
  EXPECT_EQ(NodeOf("low"), "n1");
}

}  // namespace
}  // namespace koord::localcluster::promised_room_test
