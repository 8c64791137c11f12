#include "model/quota/quota_tree.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/simulation_seeds.h"
#include "kube/yaml.h"
#include "model/quota/quota_oracle_testing.h"

namespace koord::model::quota_tree_test {
namespace {

kube::ResourceList List(std::string_view yaml) {
  const auto document = kube::ParseYaml(yaml);
  EXPECT_TRUE(document.ok()) << Message(document.status());
  auto list = kube::Decode<kube::ResourceList>(*document);
  EXPECT_TRUE(list.ok()) << Message(list.status());
  return *list;
}

struct Given {
  const char* name;
  const char* parent = "";
  const char* min = "{}";
  const char* max = "{}";
  bool lends = true;
  const char* tree = "";
};

QuotaInfo InfoFrom(const Given& given) {
  QuotaInfo info;
  info.name = given.name;
  info.parent = *given.parent == '\0' ? std::string(api::kRootQuota) : given.parent;
  info.min = List(given.min);
  info.max = info.weight = List(given.max);
  info.allow_lent = given.lends;
  info.tree_id = given.tree;
  return info;
}

class QuotaTreeTest : public testing::Test {
 protected:
  void Make(QuotaTreeOptions options) { tree_ = std::make_unique<QuotaTree>(options); }
  void Set(const Given& given) { tree_->Set(InfoFrom(given)); }
  void Request(std::string_view quota, std::string_view amounts, int sign = 1) {
    tree_->AddRequest(*tree_->Find(quota), Known(amounts), false, sign);
  }
  void Use(std::string_view quota, std::string_view amounts, int sign = 1) {
    tree_->AddUsed(*tree_->Find(quota), Known(amounts), false, sign);
  }
  QuotaAmounts Known(std::string_view amounts) { return tree_->dimensions().Known(List(amounts)); }
  std::string Text(const QuotaAmounts& amounts) { return tree_->dimensions().TextOf(amounts); }
  std::string Runtime(std::string_view quota) {
    return Text(tree_->RuntimeOf(*tree_->Find(quota)));
  }
  std::string CountedMin(std::string_view quota) {
    return Text(tree_->CountedMinOf(*tree_->Find(quota)));
  }
  const Quota& At(std::string_view quota) { return tree_->Current(*tree_->Find(quota)); }

  std::unique_ptr<QuotaTree> tree_ = std::make_unique<QuotaTree>(QuotaTreeOptions{});
};

// ---- The numbers of the rules

TEST_F(QuotaTreeTest, MinsAreScaledWhileThereIsTooLittleAndComeBack) {
  const char* kMins[] = {"{cpu: 60}", "{cpu: 60}", "{cpu: 30}"};
  const char* kNames[] = {"a", "b", "c"};
  for (int i = 0; i < 3; ++i) Set({kNames[i], "", kMins[i], "{cpu: 100}"});
  tree_->SetClusterTotal(List("{cpu: 100}"));
  EXPECT_EQ(CountedMin("a"), "cpu:40");
  EXPECT_EQ(CountedMin("b"), "cpu:40");
  EXPECT_EQ(CountedMin("c"), "cpu:20");
  tree_->SetClusterTotal(List("{cpu: 150}"));
  EXPECT_EQ(CountedMin("a"), "cpu:60");
  EXPECT_EQ(CountedMin("c"), "cpu:30");
}

TEST_F(QuotaTreeTest, AMinThatIsNotLentIsRequestedAllTheWayUp) {
  Set({"p", "", "{cpu: 60}", "{cpu: 96}"});
  Set({"x", "p", "{cpu: 20}", "{cpu: 96}", false});
  Set({"y", "p", "{cpu: 20}", "{cpu: 96}"});
  tree_->SetClusterTotal(List("{cpu: 100}"));
  EXPECT_EQ(Runtime("p"), "cpu:20");
  EXPECT_EQ(Text(At("p").child_request), "cpu:20");
  EXPECT_EQ(Runtime("x"), "cpu:20");
  EXPECT_EQ(Runtime("y"), "cpu:0");
  Request("x", "{cpu: 45}");
  EXPECT_EQ(Text(At("p").Request()), "cpu:45");
  EXPECT_EQ(Runtime("p"), "cpu:45");
  EXPECT_EQ(Runtime("x"), "cpu:45");
  EXPECT_EQ(Runtime("y"), "cpu:0");
}

TEST_F(QuotaTreeTest, NoMoreThanTheMaxIsAskedOfTheParent) {
  Set({"parent", "", "{}", "{cpu: 20}"});
  Set({"child", "parent", "{}", "{cpu: 10}"});
  Request("child", "{cpu: 30}");
  EXPECT_EQ(Text(At("child").Request()), "cpu:30");
  EXPECT_EQ(Text(At("parent").child_request), "cpu:10");
  Set({"child", "parent", "{}", "{cpu: 25}"});
  EXPECT_EQ(Text(At("parent").child_request), "cpu:25");
  EXPECT_EQ(Text(At(api::kRootQuota).Request()), "cpu:20");
}

TEST_F(QuotaTreeTest, WhatIsInUseIsNotLentWhereUsageIsGuaranteed) {
  Make({.guarantee_usage = true});
  Set({"a", "", "{cpu: 20}", "{cpu: 100}"});
  Set({"b", "", "{cpu: 20}", "{cpu: 100}"});
  tree_->SetClusterTotal(List("{cpu: 100}"));
  Request("a", "{cpu: 80}");
  Request("b", "{cpu: 70}");
  Use("b", "{cpu: 55}");
  EXPECT_EQ(Text(At("b").guaranteed), "cpu:55");
  EXPECT_EQ(Text(At("a").guaranteed), "cpu:20");
  // 20 and 55 first, then half of the other 25 each.
  EXPECT_EQ(Runtime("a"), "cpu:32500m");
  EXPECT_EQ(Runtime("b"), "cpu:67500m");
}

// ---- What takes no part

TEST_F(QuotaTreeTest, DefaultAndSystemQuotaTakeTheirsFirstAndDoNotShare) {
  Set({"a", "", "{}", "{cpu: 100}"});
  tree_->SetClusterTotal(List("{cpu: 100}"));
  Request("a", "{cpu: 100}");
  Request(api::kDefaultQuota, "{cpu: 500}");
  EXPECT_EQ(Runtime("a"), "cpu:100");
  Use(api::kDefaultQuota, "{cpu: 30}");
  Use(api::kSystemQuota, "{cpu: 10}");
  EXPECT_EQ(Runtime("a"), "cpu:60");
  EXPECT_EQ(Runtime(api::kRootQuota), "cpu:60");
  EXPECT_EQ(Text(At(api::kRootQuota).used), "cpu:40");
  Use(api::kDefaultQuota, "{cpu: 30}", -1);
  EXPECT_EQ(Runtime("a"), "cpu:90");
}

TEST_F(QuotaTreeTest, MoreThanEverythingInTheDefaultQuotaLeavesNothing) {
  Set({"a", "", "{}", "{cpu: 100}"});
  tree_->SetClusterTotal(List("{cpu: 10}"));
  Request("a", "{cpu: 5}");
  Use(api::kDefaultQuota, "{cpu: 30}");
  EXPECT_EQ(Runtime("a"), "cpu:0");
}

TEST_F(QuotaTreeTest, OfAResourceThatNoNodeHasNobodyGetsAnything) {
  for (const bool scale_min : {true, false}) {
    Make({.scale_min = scale_min});
    Set({"a", "", "{nvidia.com/gpu: 2}", "{cpu: 10, nvidia.com/gpu: 4}"});
    tree_->SetClusterTotal(List("{cpu: 10}"));
    Request("a", "{cpu: 1, nvidia.com/gpu: 1}");
    EXPECT_EQ(Runtime("a"), "cpu:1,nvidia.com/gpu:0");
  }
}

TEST_F(QuotaTreeTest, AQuotaShowsTheResourcesOfItsLevelAlsoThoseThatItIsNotAbout) {
  Set({"a", "", "{}", "{cpu: 10}"});
  Set({"b", "", "{}", "{cpu: 10, memory: 4Gi}"});
  tree_->SetClusterTotal(List("{cpu: 10, memory: 8Gi}"));
  Request("a", "{cpu: 1}");
  EXPECT_EQ(Runtime("a"), "cpu:1,memory:0");
}

// ---- Several trees

TEST_F(QuotaTreeTest, TreesHaveTheirOwnTotals) {
  Make({.multi_tree = true});
  QuotaInfo root = InfoFrom({"root-1", "", "{cpu: 40}", "{cpu: 1000}", true, "1"});
  root.is_tree_root = true;
  root.total = List("{cpu: 40}");
  tree_->Set(root);
  Set({"in-1", "root-1", "{}", "{cpu: 1000}", true, "1"});
  Set({"in-default", "", "{}", "{cpu: 1000}"});
  tree_->SetClusterTotal(List("{cpu: 100}"));
  Request("in-1", "{cpu: 500}");
  Request("in-default", "{cpu: 500}");
  EXPECT_EQ(Runtime("in-1"), "cpu:40");
  EXPECT_EQ(Runtime("in-default"), "cpu:60");
  root.ignore_default_tree = true;
  tree_->Set(root);
  EXPECT_EQ(Runtime("in-default"), "cpu:100");
  tree_->Remove("root-1");
  EXPECT_EQ(Runtime("in-default"), "cpu:100");
  EXPECT_EQ(Runtime("in-1"), "<empty>");
}

TEST_F(QuotaTreeTest, WithoutTheGateAllQuotasAreInOneTree) {
  QuotaInfo root = InfoFrom({"root-1", "", "{cpu: 40}", "{cpu: 1000}", true, "1"});
  root.is_tree_root = true;
  root.total = List("{cpu: 40}");
  tree_->Set(root);
  tree_->SetClusterTotal(List("{cpu: 100}"));
  Request("root-1", "{cpu: 500}");
  EXPECT_EQ(Runtime("root-1"), "cpu:100");
}

// ---- Trees that are not well

TEST_F(QuotaTreeTest, AQuotaWithoutItsParentHasNothingUntilTheParentComes) {
  Set({"child", "parent", "{}", "{cpu: 10}"});
  tree_->SetClusterTotal(List("{cpu: 100}"));
  Request("child", "{cpu: 4}");
  Use("child", "{cpu: 1}");
  EXPECT_EQ(Runtime("child"), "<empty>");
  EXPECT_FALSE(At("child").is_attached);
  EXPECT_EQ(Text(At("child").used), "cpu:1");
  Set({"parent", "", "{}", "{cpu: 20}"});
  EXPECT_EQ(Runtime("child"), "cpu:4");
  EXPECT_EQ(Text(At("parent").used), "cpu:1");
  tree_->Remove("parent");
  EXPECT_EQ(Runtime("child"), "<empty>");
}

TEST_F(QuotaTreeTest, RingsHaveNothingAndHarmNobody) {
  Set({"a", "b", "{}", "{cpu: 10}"});
  Set({"b", "a", "{}", "{cpu: 10}"});
  Set({"below", "b", "{}", "{cpu: 10}"});
  Set({"self", "self", "{}", "{cpu: 10}"});
  Set({"well", "", "{}", "{cpu: 10}"});
  tree_->SetClusterTotal(List("{cpu: 100}"));
  for (const char* each : {"a", "b", "below", "self", "well"}) Request(each, "{cpu: 3}");
  for (const char* each : {"a", "b", "below", "self"}) EXPECT_EQ(Runtime(each), "<empty>") << each;
  EXPECT_EQ(Runtime("well"), "cpu:3");
}

// ---- Random trees, against the oracle

constexpr std::string_view kCard = "example.com/card";

struct RandomWorld {
  explicit RandomWorld(uint64_t seed) : random(seed) {
    // Few units make ties and remainders, many make products that need more than 64 bits.
    const int bits = random.Chance(0.5) ? 6 : random.Chance(0.5) ? 20 : 50;
    most = int64_t{1} << bits;
    world.total = Amount();
    world.scale_min = random.Chance(0.7);
    world.guarantee_usage = random.Chance(0.2);
    const int quotas = 1 + static_cast<int>(random.Below(12));
    for (int i = 0; i < quotas; ++i) AddQuota(i);
  }
  int64_t Amount() { return static_cast<int64_t>(random.Below(most)); }
  void AddQuota(int i) {
    oracle::QuotaSpec quota;
    // In another order than the one that they were made in.
    quota.name = "q" + std::to_string(random.Below(1000)) + "-" + std::to_string(i);
    quota.parent = static_cast<int>(random.Below(i + 1)) - 1;
    quota.max = Amount();
    quota.min = static_cast<int64_t>(random.Below(quota.max + 1)) >> random.Below(4);
    quota.weight = random.Chance(0.1) ? 0 : random.Chance(0.5) ? quota.max : 1 + random.Below(3);
    quota.lends = random.Chance(0.8);
    world.quotas.push_back(std::move(quota));
  }

  Random random;
  int64_t most;
  oracle::World world;
};

class RandomTreeTest : public testing::Test {
 protected:
  static QuotaInfo InfoFrom(const oracle::World& world, const oracle::QuotaSpec& spec) {
    QuotaInfo info;
    info.name = spec.name;
    info.parent = spec.parent < 0 ? std::string(api::kRootQuota) : world.quotas[spec.parent].name;
    info.is_parent = true;
    info.allow_lent = spec.lends;
    info.min.emplace(kCard, spec.min);
    info.max.emplace(kCard, spec.max);
    info.weight.emplace(kCard, spec.weight);
    return info;
  }

  // Pods come and go, quotas and the cluster change; somebody looks now and then, so that whatever
  // is kept in between is put to the test.
  void Churn(RandomWorld& random, QuotaTree& tree) {
    oracle::World& world = random.world;
    oracle::QuotaSpec& spec = world.quotas[random.random.Below(world.quotas.size())];
    Quota& quota = *tree.Find(spec.name);
    const auto charge = [&](int64_t amount) {
      return QuotaAmounts{{*tree.dimensions().Find(kCard), amount}};
    };
    const uint64_t what = random.random.Below(20);
    if (what < 8) {
      spec.requests.push_back(random.Amount() / 4);
      tree.AddRequest(quota, charge(spec.requests.back()), false, 1);
    } else if (what < 12 && !spec.requests.empty()) {
      spec.used.push_back(spec.requests[random.random.Below(spec.requests.size())]);
      tree.AddUsed(quota, charge(spec.used.back()), false, 1);
    } else if (what < 14 && !spec.used.empty()) {
      tree.AddUsed(quota, charge(spec.used.back()), false, -1);
      spec.used.pop_back();
    } else if (what < 16 && !spec.requests.empty()) {
      tree.AddRequest(quota, charge(spec.requests.back()), false, -1);
      spec.requests.pop_back();
    } else if (what == 16) {
      spec.max = random.Amount();
      spec.min = std::min(spec.min, spec.max);
      spec.lends = !spec.lends;
      tree.Set(InfoFrom(world, spec));
    } else if (what == 17) {
      world.total = random.Amount();
      SetTotal(tree, world);
    } else {
      tree.RuntimeOf(quota);
    }
  }
  static void SetTotal(QuotaTree& tree, const oracle::World& world) {
    tree.SetClusterTotal({{std::string(kCard), kube::Quantity(world.total)}});
  }

  void ExpectSame(const oracle::World& world, const QuotaTree& tree) {
    const std::vector<oracle::Answer> answers = oracle::Solve(world);
    const DimensionId card = *tree.dimensions().Find(kCard);
    int64_t mins = 0;
    for (size_t i = 0; i < answers.size(); ++i) {
      const oracle::QuotaSpec& spec = world.quotas[i];
      const Quota& quota = tree.Current(*tree.Find(spec.name));
      const int64_t runtime = Clamped(ValueIn(tree.RuntimeOf(quota), card));
      ASSERT_EQ(runtime, answers[i].runtime) << spec.name;
      ASSERT_EQ(Clamped(ValueIn(quota.child_request, card)), answers[i].child_request) << spec.name;
      ASSERT_EQ(Clamped(ValueIn(quota.used, card)), answers[i].used) << spec.name;
      ASSERT_EQ(Clamped(ValueIn(quota.guaranteed, card)), answers[i].guaranteed) << spec.name;
      if (spec.parent < 0) mins += spec.min;
    }
    // While mins fit, nobody gets less than its min as far as it asks for it.
    for (size_t i = 0; i < answers.size() && mins <= world.total; ++i) {
      const oracle::QuotaSpec& spec = world.quotas[i];
      if (spec.parent >= 0) continue;
      ASSERT_GE(answers[i].runtime, std::min(spec.min, answers[i].child_request)) << spec.name;
    }
  }

  void Try(uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWorld random(seed);
    QuotaTree tree(
        {.scale_min = random.world.scale_min, .guarantee_usage = random.world.guarantee_usage});
    for (const oracle::QuotaSpec& spec : random.world.quotas)
      tree.Set(InfoFrom(random.world, spec));
    SetTotal(tree, random.world);
    for (int i = 0; i < 30; ++i) Churn(random, tree);
    ExpectSame(random.world, tree);
  }
};

// More of them: KOORD_SIMULATION_SEEDS=1-1000000.
TEST_F(RandomTreeTest, SharesLikeTheOracle) {
  for (const uint64_t seed : SimulationSeeds(5000)) {
    Try(seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace koord::model::quota_tree_test
