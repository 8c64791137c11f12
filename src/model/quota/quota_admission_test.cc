#include "model/quota/quota_admission.h"

#include <gtest/gtest.h>

namespace koord::model::quota_admission_test {
namespace {

using kube::Quantity;

class QuotaAdmissionTest : public testing::Test {
 protected:
  void SetUp() override {
    tree_.SetClusterTotal({{"cpu", Quantity(1000)}, {"memory", Quantity(1000)}});
  }
  void Set(std::string_view name, std::string_view parent, kube::ResourceList min,
           kube::ResourceList max) {
    QuotaInfo info;
    info.name = name;
    info.parent = parent;
    info.min = std::move(min);
    info.max = info.weight = std::move(max);
    tree_.Set(std::move(info));
  }
  Quota& At(std::string_view name) { return *tree_.Find(name); }
  QuotaAmounts Known(const kube::ResourceList& list) { return tree_.dimensions().Known(list); }
  void Use(std::string_view name, const kube::ResourceList& list, bool non_preemptible = false) {
    tree_.AddRequest(At(name), Known(list), non_preemptible, 1);
    tree_.AddUsed(At(name), Known(list), non_preemptible, 1);
  }
  void Wait(std::string_view name, const kube::ResourceList& list) {
    tree_.AddRequest(At(name), Known(list), false, 1);
  }
  // "" where there is room.
  std::string Check(std::string_view name, const kube::ResourceList& request,
                    AdmissionRules rules = {}, bool non_preemptible = false) {
    const Quota& quota = At(name);
    const QuotaCharge charge{Masked(Known(request), quota.max), non_preemptible};
    const auto shortfall = CheckAdmission(tree_, quota, charge, rules);
    return shortfall ? TextOf(*shortfall, tree_, quota, charge) : "";
  }

  static constexpr AdmissionRules kMaxOnly{.runtime = false};
  static constexpr AdmissionRules kParentsToo{.check_parents = true};
  QuotaTree tree_{{}};
};

TEST_F(QuotaAdmissionTest, SaysWhatIsMissing) {
  tree_.SetClusterTotal({{"cpu", Quantity(4)}, {"memory", Quantity(20)}, {"gpu", Quantity(1)}});
  Set("q", api::kRootQuota, {}, {{"cpu", Quantity(10)}, {"memory", Quantity(20)}});
  Use("q", {{"cpu", Quantity(3)}});
  Wait("q", {{"cpu", Quantity(5)}, {"memory", Quantity(30)}});
  EXPECT_EQ(Check("q", {{"cpu", Quantity(2)}, {"memory", Quantity(1)}, {"gpu", Quantity(1)}}),
            "Insufficient quotas, quotaName: q, runtime: cpu:4,memory:20, used: cpu:3, pod's "
            "request: cpu:2,memory:1, exceedDimensions: [cpu]");
  EXPECT_EQ(Check("q", {{"cpu", Quantity(1)}, {"memory", Quantity(20)}, {"gpu", Quantity(9)}}), "");
}

TEST_F(QuotaAdmissionTest, WhatMayNotBePreemptedMustFitIntoMin) {
  Set("q", api::kRootQuota, {{"cpu", Quantity(7)}}, {{"cpu", Quantity(100)}});
  Use("q", {{"cpu", Quantity(5)}}, true);
  Wait("q", {{"cpu", Quantity(50)}});
  EXPECT_EQ(Check("q", {{"cpu", Quantity(3)}}, {}, true),
            "Insufficient non-preemptible quotas, quotaName: q, min: cpu:7, nonPreemptibleUsed: "
            "cpu:5, pod's request: cpu:3, exceedDimensions: [cpu]");
  EXPECT_EQ(Check("q", {{"cpu", Quantity(2)}}, {}, true), "");
  EXPECT_EQ(Check("q", {{"cpu", Quantity(3)}}, {}, false), "");
}

TEST_F(QuotaAdmissionTest, ParentsAreAskedIfSo) {
  Set("top", api::kRootQuota, {}, {{"cpu", Quantity(10)}});
  Set("mid", "top", {}, {{"cpu", Quantity(50)}});
  Set("a", "mid", {}, {{"cpu", Quantity(50)}});
  Set("b", "mid", {}, {{"cpu", Quantity(50)}});
  Use("a", {{"cpu", Quantity(8)}});
  Wait("b", {{"cpu", Quantity(4)}});
  // a has taken what both of them share by now.
  EXPECT_EQ(Check("b", {{"cpu", Quantity(4)}}), "");
  EXPECT_EQ(Check("b", {{"cpu", Quantity(4)}}, kParentsToo),
            "Insufficient quotas, quotaNameTopo: [mid b], runtime: cpu:10, used: cpu:8, pod's "
            "request: cpu:4, exceedDimensions: [cpu]");
  EXPECT_EQ(Check("b", {{"cpu", Quantity(2)}}, kParentsToo), "");
}

// Decision 27.
TEST_F(QuotaAdmissionTest, WithoutRuntimesTheMaxOfEveryQuotaAboveLimits) {
  Set("top", api::kRootQuota, {}, {{"cpu", Quantity(10)}});
  Set("mid", "top", {}, {{"cpu", Quantity(50)}});
  Set("q", "mid", {}, {{"cpu", Quantity(50)}});
  Use("q", {{"cpu", Quantity(8)}});
  EXPECT_EQ(Check("q", {{"cpu", Quantity(3)}}, kMaxOnly),
            "Insufficient quotas, quotaNameTopo: [top mid q], runtime: cpu:10, used: cpu:8, pod's "
            "request: cpu:3, exceedDimensions: [cpu]");
  EXPECT_EQ(Check("q", {{"cpu", Quantity(2)}}, kMaxOnly), "");
}

TEST_F(QuotaAdmissionTest, TheDefaultQuotaIsLimitedOnlyByItsMaxAndOnlyIfThatLimitsAll) {
  Set(api::kDefaultQuota, api::kRootQuota, {}, {{"cpu", Quantity(2)}});
  EXPECT_EQ(Check(api::kDefaultQuota, {{"cpu", Quantity(3)}}), "");
  EXPECT_EQ(Check(api::kDefaultQuota, {{"cpu", Quantity(3)}}, kMaxOnly),
            "Insufficient quotas, quotaName: koordinator-default-quota, runtime: cpu:2, used: "
            "<empty>, pod's request: cpu:3, exceedDimensions: [cpu]");
}

TEST_F(QuotaAdmissionTest, SaysWhichQuotaAboveIsNotThere) {
  Set("mid", "top", {}, {{"cpu", Quantity(50)}});
  Set("q", "mid", {}, {{"cpu", Quantity(50)}});
  EXPECT_EQ(Check("q", {{"cpu", Quantity(1)}}),
            "Could not find the elasticQuota top, quotaNameTopo: [mid q]");
}

TEST_F(QuotaAdmissionTest, OthersThatAreOnTheirWayCount) {
  Set("q", api::kRootQuota, {}, {{"cpu", Quantity(10)}});
  Wait("q", {{"cpu", Quantity(20)}});
  const QuotaCharge charge{Known({{"cpu", Quantity(4)}}), false};
  EXPECT_FALSE(CheckAdmission(tree_, At("q"), charge, {}, {Known({{"cpu", Quantity(6)}}), {}}));
  EXPECT_TRUE(CheckAdmission(tree_, At("q"), charge, {}, {Known({{"cpu", Quantity(7)}}), {}}));
}

// A pod of this quota is counted as requested from the moment that it exists: below its min there
// is always room for it, however much others ask for.
TEST_F(QuotaAdmissionTest, NobodyBelowItsMinIsDenied) {
  tree_.SetClusterTotal({{"gpu", Quantity(8)}});
  Set("mine", api::kRootQuota, {{"gpu", Quantity(8)}}, {{"gpu", Quantity(8)}});
  Set("theirs", api::kRootQuota, {}, {{"gpu", Quantity(8)}});
  Wait("theirs", {{"gpu", Quantity(8)}});
  for (int i = 0; i < 8; ++i) {
    Wait("mine", {{"gpu", Quantity(1)}});
    ASSERT_EQ(Check("mine", {{"gpu", Quantity(1)}}), "") << i;
    tree_.AddUsed(At("mine"), Known({{"gpu", Quantity(1)}}), false, 1);
  }
}

}  // namespace
}  // namespace koord::model::quota_admission_test
