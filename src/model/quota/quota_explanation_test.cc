#include "model/quota/quota_explanation.h"

#include <gtest/gtest.h>

namespace koord::model::quota_explanation_test {
namespace {

using kube::Quantity;

class QuotaExplanationTest : public testing::Test {
 protected:
  void Set(std::string_view name, int64_t min, int64_t max,
           std::string_view parent = api::kRootQuota) {
    QuotaInfo info;
    info.name = name;
    info.parent = parent;
    info.min = {{"gpu", Quantity(min)}};
    info.max = info.weight = {{"gpu", Quantity(max)}};
    tree_.Set(std::move(info));
  }
  QuotaAmounts Gpus(int64_t amount) {
    return tree_.dimensions().Known({{"gpu", Quantity(amount)}});
  }
  void Run(std::string_view name, int64_t amount) {
    Wait(name, amount);
    tree_.AddUsed(*tree_.Find(name), Gpus(amount), false, 1);
  }
  void Wait(std::string_view name, int64_t amount) {
    tree_.AddRequest(*tree_.Find(name), Gpus(amount), false, 1);
  }
  std::string Why(std::string_view name, int64_t amount, AdmissionRules rules = {},
                  bool non_preemptible = false) {
    const QuotaCharge charge{Gpus(amount), non_preemptible};
    const auto shortfall = CheckAdmission(tree_, *tree_.Find(name), charge, rules);
    return shortfall ? ExplainShortfall(*shortfall, tree_, charge) : "";
  }

  QuotaTree tree_{{}};
};

TEST_F(QuotaExplanationTest, NamesWhoHasBorrowed) {
  tree_.SetClusterTotal({{"gpu", Quantity(10)}});
  Set("team-a", 2, 10);
  Set("team-b", 2, 10);
  Run("team-a", 3);
  Run("team-b", 5);
  Wait("team-a", 4);
  EXPECT_EQ(Why("team-a", 4),
            "waits for 2 gpu that team-b has borrowed within its runtime; it is over its min by 3");
  Wait("team-b", 5);
  EXPECT_EQ(Why("team-a", 4),
            "waits for 2 gpu that team-b has borrowed within its runtime; it is over its min by 3");
}

TEST_F(QuotaExplanationTest, NamesWhoHasToGiveBack) {
  tree_.SetClusterTotal({{"gpu", Quantity(10)}});
  Set("team-a", 6, 10);
  Set("team-b", 2, 10);
  Run("team-b", 9);
  Run("team-a", 3);
  Wait("team-a", 5);
  EXPECT_EQ(Why("team-a", 5),
            "waits for 1 gpu that team-b has to give back: it is over its runtime by 6 and over "
            "its min by 7");
}

TEST_F(QuotaExplanationTest, SaysWhenTheQuotaItselfIsFull) {
  tree_.SetClusterTotal({{"gpu", Quantity(100)}});
  Set("q", 2, 10);
  Run("q", 9);
  Wait("q", 3);
  EXPECT_EQ(Why("q", 3), "waits for 2 gpu: q is at its max of 10");
  EXPECT_EQ(Why("q", 1, {}, true), "");
  tree_.AddUsed(*tree_.Find("q"), Gpus(2), true, 1);
  tree_.AddUsed(*tree_.Find("q"), Gpus(2), false, -1);
  EXPECT_EQ(Why("q", 1, {}, true),
            "waits for 1 gpu: pods that may not be preempted must fit into the min of q, which is "
            "2");
}

TEST_F(QuotaExplanationTest, SaysWhenTheClusterHasNoMore) {
  tree_.SetClusterTotal({{"gpu", Quantity(4)}});
  Set("q", 2, 10);
  Run("q", 3);
  Wait("q", 3);
  EXPECT_EQ(Why("q", 3),
            "waits for 2 gpu: q may use 4 of what the cluster has to share, and uses 3");
}

TEST_F(QuotaExplanationTest, ShowsTheTreeAsATable) {
  tree_.SetClusterTotal({{"gpu", Quantity(10)}});
  Set("team", 8, 10);
  Set("left", 4, 10, "team");
  Set("right", 4, 10, "team");
  Set("lost", 1, 1, "nowhere");
  Run("left", 6);
  const QuotaExplanation explanation{ExplainQuotas(tree_, ""),
                                     {{"ns/p", "left", "waits for 2 gpu"}}};
  EXPECT_EQ(
      FormatExplanation(explanation),
      "QUOTA                      RESOURCE  MIN  MAX  RUNTIME  USED  REQUEST  BORROWED  LENT\n"
      "koordinator-default-quota  -                                                         \n"
      "koordinator-system-quota   -                                                         \n"
      "lost                       gpu         1    1        0     0        0         0     1\n"
      "team                       gpu         8   10        6     6        6         0     2\n"
      "  left                     gpu         4   10        6     6        6         2     0\n"
      "  right                    gpu         4   10        0     0        0         0     4\n"
      "\n"
      "lost has nothing: there is no way from its parent nowhere up to the root\n"
      "\n"
      "ns/p (left) waits for 2 gpu\n");
  EXPECT_EQ(ExplainQuotas(tree_, "team").size(), 3u);
}

}  // namespace
}  // namespace koord::model::quota_explanation_test
