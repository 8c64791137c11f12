#include "scheduler/cluster/holdings.h"

#include <gmock/gmock.h>

#include "api/cpu_annotations.h"
#include "api/device_annotations.h"
#include "api/keys.h"
#include "api/reservation_annotations.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::holdings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNode[] = "{metadata: {name: a}, status: {allocatable: {cpu: '16', memory: 8Gi}}}";

class HoldingsTest : public ::testing::Test {
 protected:
  static kube::Pod With(std::string_view key, std::string value) {
    kube::Pod pod = *PodOf("{metadata: {name: p, uid: u}, spec: {nodeName: a}}");
    pod.metadata.annotations[std::string(key)] = std::move(value);
    return pod;
  }
  // What a pod holds by its annotations; "" if nothing.
  std::string Read(const kube::Pod& pod) {
    problems_.clear();
    const auto held = HoldingsOf(pod, resources_, problems_);
    return held == nullptr ? "" : ToString(*held, resources_);
  }

  ResourceNames resources_;
  std::vector<std::string> problems_;
};

TEST_F(HoldingsTest, ReadsWhatAPodWasGiven) {
  EXPECT_EQ(Read(With("example.com/other", "1")), "");
  EXPECT_EQ(Read(With(api::kAnnotationResourceStatus,
                      R"({"cpuset":"8,0-3","numaNodeResources":[{"node":1,"resources":{"cpu":"1"}},
                          {"node":0,"resources":{"cpu":"4","memory":"0"}}]})")),
            "cpus 0-3,8, numa 0: cpu=4000, numa 1: cpu=1000");
  EXPECT_EQ(Read(With(api::kAnnotationDeviceAllocated,
                      R"({"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"1"},
                          "extension":{"vfs":[{"minor":2,"busID":"0000:02"},
                                              {"minor":1,"busID":"0000:01"}]}}],
                          "gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"50"}}]})")),
            "gpu 1: koordinator.sh/gpu-core=50, "
            "rdma 0: koordinator.sh/rdma=1 vf 1(0000:01) vf 2(0000:02)");
  EXPECT_EQ(Read(With(api::kAnnotationReservationAllocated, R"({"name":"r","uid":"r-uid"})")),
            "draws from r(r-uid)");
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(HoldingsTest, WhatMakesNoSenseHoldsNothingAndIsNamed) {
  for (const auto& [key, value, why] :
       std::vector<std::tuple<std::string_view, std::string, std::string>>{
           {api::kAnnotationResourceStatus, "cpus", ""},
           {api::kAnnotationResourceStatus, R"({"cpuset":"0-99999"})", ""},
           {api::kAnnotationResourceStatus, R"({"numaNodeResources":[{"node":-1}]})",
            "numaNodeResources.node"},
           {api::kAnnotationResourceStatus,
            R"({"cpuset":"0","numaNodeResources":[{"node":0,"resources":{"cpu":"-1"}}]})", "cpu"},
           {api::kAnnotationDeviceAllocated, R"({"gpu":[{"minor":-1}]})", "gpu.minor"},
           {api::kAnnotationReservationAllocated, R"({"name":"r"})", "uid"}}) {
    kube::Pod pod = With(key, value);
    EXPECT_EQ(Read(pod), "") << value;
    ASSERT_EQ(problems_.size(), 1U) << value;
    EXPECT_THAT(problems_[0], HasSubstr(key));
    EXPECT_THAT(problems_[0], HasSubstr(why));
  }
  kube::Pod pod = With(api::kAnnotationResourceStatus, "cpus");
  pod.metadata.annotations[std::string(api::kAnnotationReservationAllocated)] =
      R"({"name":"r","uid":"r-uid"})";
  EXPECT_EQ(Read(pod), "draws from r(r-uid)") << "each annotation by itself";
}

TEST_F(HoldingsTest, OnlyWhatStandsForAReservationReserves) {
  kube::Pod pod = With(api::kAnnotationReservePod, "true");
  pod.metadata.annotations[std::string(api::kAnnotationReservationName)] = "r";
  EXPECT_EQ(Read(pod), "") << "anybody can write an annotation, and nobody choose a uid";
  pod.metadata.name = pod.metadata.uid = "r-uid";
  EXPECT_EQ(Read(pod), "reserves for r(r-uid)");
}

TEST_F(HoldingsTest, AreEqualHoweverTheyWereWritten) {
  ResourceHold hold;
  const auto amounts = [&](int64_t cpu) { return ResourceAmounts{{kCpuId, cpu}}; };
  Holdings a;
  a.zones = {{1, amounts(1)}, {0, amounts(2)}, {1, amounts(3)}, {2, {}}};
  a.devices = {{.type = "gpu", .minor = 1, .amounts = amounts(5)},
               {.type = "gpu", .minor = 0, .amounts = amounts(5)}};
  Normalize(a);
  Holdings b;
  b.zones = {{0, amounts(2)}, {1, amounts(4)}};
  b.devices = {{.type = "gpu", .minor = 0, .amounts = amounts(5)},
               {.type = "gpu", .minor = 1, .amounts = amounts(5)}};
  EXPECT_TRUE(a == b) << ToString(a, resources_);
  b.cpus = {1};
  EXPECT_FALSE(a == b);
}

// ---- In the ledger

// What a book would hear.
class Heard final : public LedgerListener {
 public:
  explicit Heard(const ResourceNames& resources) : resources_(resources) {}
  void OnPodAdded(const PodInfo& pod) override { Say("+", pod); }
  void OnPodRemoved(const PodInfo& pod) override { Say("-", pod); }
  void OnPodRefreshed(const PodInfo& pod) override { Say("=", pod); }

  std::vector<std::string> said;

 private:
  void Say(std::string_view what, const PodInfo& pod) {
    said.push_back(fmt::format("{}{} {}", what, pod.uid(),
                               pod.held ? ToString(*pod.held, resources_) : "nothing"));
  }
  const ResourceNames& resources_;
};

class HoldingsInLedgerTest : public ::testing::Test {
 protected:
  HoldingsInLedgerTest() { ledger_.AddListener(heard_); }

  static std::shared_ptr<const kube::Pod> Pod(std::string_view node, std::string_view cpus) {
    kube::Pod pod = *PodOf("{metadata: {name: p}}");
    pod.spec.node_name = node;
    if (!cpus.empty()) {
      pod.metadata.annotations[std::string(api::kAnnotationResourceStatus)] =
          api::EncodeResourceStatus({.cpuset = std::string(cpus)});
    }
    return std::make_shared<const kube::Pod>(std::move(pod));
  }
  static std::unique_ptr<Holdings> Cpus(std::string_view cpus) {
    auto held = std::make_unique<Holdings>();
    held->cpus = *CpuSet::Parse(cpus);
    return held;
  }
  void Assume(std::string_view cpus) {
    const auto pod = Pod("", "");
    ASSERT_TRUE(ledger_.Assume(pod, ledger_.shapes().Of(pod), row_, Cpus(cpus)).ok());
  }

  Ledger ledger_;
  const NodeRow row_ = ledger_.SetNode(NodeOf(kNode));
  Heard heard_{ledger_.resources()};
};

TEST_F(HoldingsInLedgerTest, AnAssumedPodThatIsSeenWithWhatItWasGivenIsConfirmed) {
  Assume("0-3");
  EXPECT_THAT(ledger_.Fingerprint(), HasSubstr("pod p default/p on a, holds cpus 0-3"));
  ledger_.SetPod(Pod("a", "0-3"));
  EXPECT_EQ(ledger_.assumed(), 0U);
  EXPECT_THAT(heard_.said, ElementsAre("+p cpus 0-3", "=p cpus 0-3")) << "nothing is booked anew";
}

TEST_F(HoldingsInLedgerTest, WhatTheApiServerShowsCounts) {
  Assume("0-3");
  ledger_.SetPod(Pod("a", "4-7"));
  ledger_.SetPod(Pod("a", ""));
  ledger_.RemovePod("p");
  EXPECT_THAT(heard_.said, ElementsAre("+p cpus 0-3", "-p cpus 0-3", "+p cpus 4-7", "-p cpus 4-7",
                                       "+p nothing", "-p nothing"));
}

TEST_F(HoldingsInLedgerTest, AreGivenBackWithTheAmounts) {
  const std::string before = ledger_.Fingerprint();
  Assume("0-3");
  ASSERT_TRUE(ledger_.Forget("p"));
  EXPECT_EQ(ledger_.Fingerprint(), before);
  EXPECT_THAT(heard_.said, ElementsAre("+p cpus 0-3", "-p cpus 0-3"));
}

TEST_F(HoldingsInLedgerTest, ComeBackWhenARemovalIsRolledBack) {
  ledger_.SetPod(Pod("a", "0-3"));
  const std::string before = ledger_.Fingerprint();
  const auto savepoint = ledger_.Mark();
  ledger_.RemovePod("p");
  Assume("4-5");
  ledger_.RollBack(savepoint);
  EXPECT_EQ(ledger_.Fingerprint(), before);
  EXPECT_EQ(heard_.said.back(), "+p cpus 0-3");
}

TEST_F(HoldingsInLedgerTest, GoAsideWithAPodWhoseNodeIsGone) {
  ledger_.SetPod(Pod("a", "0-3"));
  ledger_.RemoveNode("a");
  EXPECT_EQ(heard_.said.back(), "-p cpus 0-3");
  ledger_.SetNode(NodeOf(kNode));
  EXPECT_EQ(heard_.said.back(), "+p cpus 0-3");
}

TEST_F(HoldingsInLedgerTest, AreNotPartOfAShape) {
  const auto a = Pod("a", "0-3");
  const auto b = Pod("a", "4-7");
  EXPECT_EQ(ledger_.shapes().Of(a), ledger_.shapes().Of(b));
}

}  // namespace
}  // namespace koord::scheduler::holdings_test
