#include "manager/quota/quota_topology.h"

#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/yaml.h"

namespace koord::manager::quota_topology_test {
namespace {

// "name parent is-parent cpu-min cpu-max": what most cases are about.
api::ElasticQuota Quota(std::string_view yaml) {
  const auto document = kube::ParseYaml(yaml);
  EXPECT_TRUE(document.ok()) << Message(document.status());
  auto quota = kube::Decode<api::ElasticQuota>(*document);
  EXPECT_TRUE(quota.ok()) << Message(quota.status());
  // Short names in the tables.
  kube::Labels labels, annotations;
  for (const auto& [key, value] : quota->metadata.labels) {
    labels["quota.scheduling.koordinator.sh/" + key] = value;
  }
  for (auto& [key, value] : quota->metadata.annotations) {
    annotations["quota.scheduling.koordinator.sh/" + key] = value;
  }
  quota->metadata.labels = std::move(labels);
  quota->metadata.annotations = std::move(annotations);
  return *quota;
}

constexpr char kTemp[] =
    "{metadata: {name: temp, labels: {is-parent: 'true'}}, spec: {min: {cpu: 64}, max: {cpu: 96}}}";
constexpr char kChild[] =
    "{metadata: {name: child, labels: {parent: temp}, annotations: {namespaces: '[\"n1\"]'}},"
    " spec: {min: {cpu: 40}, max: {cpu: 96}}}";
constexpr char kOther[] = "{metadata: {name: other}, spec: {max: {cpu: 1}}}";

class QuotaTopologyTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* each : {kTemp, kChild, kOther}) topology_.Set(Quota(each));
  }
  QuotaPods Pods() {
    return {[this](std::string_view quota) {
              const auto it = pods_.find(quota);
              return it == pods_.end() ? std::vector<kube::ObjectKey>() : it->second;
            },
            [this](std::string_view ns) { return ns == busy_namespace_; }};
  }
  std::string Create(std::string_view yaml) {
    return std::string(Message(topology_.Create(Quota(yaml), true)));
  }
  std::string Update(std::string_view before, std::string_view after) {
    return std::string(Message(topology_.Update(Quota(before), Quota(after), Pods(), true)));
  }
  std::string Delete(const std::string& name) {
    return std::string(Message(topology_.Delete(name, Pods(), true)));
  }

  VirtualLoop loop_;
  QuotaTopology topology_{loop_.clock(), {}};
  std::map<std::string, std::vector<kube::ObjectKey>, std::less<>> pods_;
  std::string busy_namespace_;
};

struct CreateCase {
  const char* name;
  const char* quota;
  const char* error;  // empty: allowed
};

class CreateQuotaTest : public QuotaTopologyTest, public testing::WithParamInterface<CreateCase> {};

TEST_P(CreateQuotaTest, IsJudged) { EXPECT_EQ(Create(GetParam().quota), GetParam().error); }

INSTANTIATE_TEST_SUITE_P(
    Cases, CreateQuotaTest,
    testing::Values(
        CreateCase{"fits",
                   "{metadata: {name: q, labels: {parent: temp}},"
                   " spec: {min: {cpu: 24}, max: {cpu: 1000}}}",
                   ""},
        // V24
        CreateCase{"brothers_min",
                   "{metadata: {name: q, labels: {parent: temp}},"
                   " spec: {min: {cpu: 30}, max: {cpu: 96}}}",
                   "checkMinQuotaSum all brothers' MinQuota > parent MinQuota, parent: temp"},
        CreateCase{"forced",
                   "{metadata: {name: q, labels: {parent: temp, allow-force-update: 'true'}},"
                   " spec: {min: {cpu: 30}, max: {cpu: 96}}}",
                   ""},
        CreateCase{"known", kOther, "AddQuota quota already exist:other"},
        CreateCase{"namespace_taken",
                   "{metadata: {name: q, annotations: {namespaces: '[\"n0\",\"n1\"]'}}, spec: {}}",
                   "AddQuota quota q's annotation namespace n1 is already bound to quota child"},
        CreateCase{"negative_max", "{metadata: {name: q}, spec: {max: {cpu: -1, memory: -2}}}",
                   "q quota.Spec.Max's value < 0, in dimensions :[cpu memory]"},
        CreateCase{"negative_min", "{metadata: {name: q}, spec: {min: {cpu: -1}, max: {cpu: 1}}}",
                   "q quota.Spec.Min's value < 0, in dimensions :[cpu]"},
        CreateCase{"negative_weight",
                   "{metadata: {name: q, annotations: {shared-weight: '{\"cpu\":-1}'}},"
                   " spec: {max: {cpu: 1}}}",
                   "q quota.Annotation[quota.scheduling.koordinator.sh/shared-weight]'s value < 0,"
                   " in dimension :[cpu]"},
        CreateCase{"min_not_in_max", "{metadata: {name: q}, spec: {min: {gpu: 1}, max: {cpu: 1}}}",
                   "resourceKey gpu of quota q is included in min, which is not included in max"},
        CreateCase{"min_over_max", "{metadata: {name: q}, spec: {min: {cpu: 2}, max: {cpu: 1}}}",
                   "resourceKey cpu of quota q min 2 > max 1"},
        CreateCase{"max_under_used",
                   "{metadata: {name: q, annotations: {max-strict-check-resource-keys:"
                   " '[\"cpu\",\"gpu\"]'}}, spec: {max: {cpu: 1}}, status: {used: {cpu: 2}}}",
                   "resourceKey cpu of quota q max 1 < used 2"},
        CreateCase{"used_not_in_max",
                   "{metadata: {name: q, annotations: {max-strict-check-resource-keys:"
                   " '[\"gpu\"]'}}, spec: {max: {cpu: 1}}, status: {used: {gpu: 2}}}",
                   "resourceKey gpu of quota q is included in used, which is not included in max"
                   " but should check max >= used"},
        CreateCase{"no_parent", "{metadata: {name: q, labels: {parent: gone}}, spec: {}}",
                   "q has parentName gone but not find parentInfo in quotaInfoMap"},
        CreateCase{"parent_is_none", "{metadata: {name: q, labels: {parent: other}}, spec: {}}",
                   "q has parentName other but the parentQuotaInfo's IsParent is false"},
        CreateCase{"tree_of_parent",
                   "{metadata: {name: q, labels: {parent: temp, tree-id: t}}, spec: {}}",
                   "q tree id is different from parent temp, [t] vs []"},
        CreateCase{"max_keys",
                   "{metadata: {name: q, labels: {parent: temp}}, spec: {max: {memory: 1}}}",
                   "failed to check sub and parent group quotaKey, err: "
                   "checkSubAndParentGroupQuotaKey failed: temp's max keys are not the same with"
                   " q's"},
        CreateCase{"root_is_exempt", "{metadata: {name: koordinator-root-quota}, spec: {}}", ""}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(QuotaTopologyTest, MinKeysMustBeAmongTheParents) {
  topology_.Set(
      Quota("{metadata: {name: p, labels: {is-parent: 'true'}}, spec: {max: {cpu: 1, gpu: 1}}}"));
  EXPECT_EQ(Create("{metadata: {name: q, labels: {parent: p}},"
                   " spec: {min: {gpu: 0}, max: {cpu: 1, gpu: 1}}}"),
            "failed to check sub and parent group quotaKey, err: checkSubAndParentGroupQuotaKey "
            "failed: q's min keys are not all included in p's");
}

TEST_F(QuotaTopologyTest, MaxKeysNeedOnlyBeAmongTheParentsIfAllowed) {
  QuotaTopology topology(loop_.clock(), {.update_resource_key = true});
  topology.Set(
      Quota("{metadata: {name: p, labels: {is-parent: 'true'}}, spec: {max: {cpu: 1, gpu: 1}}}"));
  const auto create = [&](std::string_view yaml) {
    return std::string(Message(topology.Create(Quota(yaml), false)));
  };
  EXPECT_EQ(create("{metadata: {name: q, labels: {parent: p}}, spec: {max: {cpu: 1}}}"), "");
  EXPECT_EQ(create("{metadata: {name: q, labels: {parent: p}}, spec: {max: {memory: 1}}}"),
            "failed to check sub and parent group quotaKey, err: checkSubAndParentGroupQuotaKey "
            "failed: q's max keys are not all included in p's");
}

struct UpdateCase {
  const char* name;
  const char* before;
  const char* after;
  const char* error;
};

class UpdateQuotaTest : public QuotaTopologyTest, public testing::WithParamInterface<UpdateCase> {};

TEST_P(UpdateQuotaTest, IsJudged) {
  busy_namespace_ = "other";
  EXPECT_EQ(Update(GetParam().before, GetParam().after), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, UpdateQuotaTest,
    testing::Values(
        UpdateCase{"annotations_alone_are_not_judged", kOther,
                   "{metadata: {name: other, annotations: {shared-weight: 'no json'}},"
                   " spec: {max: {cpu: 1}}}",
                   ""},
        UpdateCase{"system", "{metadata: {name: koordinator-system-quota}, spec: {}}",
                   "{metadata: {name: koordinator-system-quota}, spec: {max: {cpu: 1}}}",
                   "invalid quota koordinator-system-quota"},
        UpdateCase{"unknown", "{metadata: {name: new}, spec: {}}",
                   "{metadata: {name: new}, spec: {max: {cpu: 1}}}",
                   "UpdateQuota quota not exist in quotaInfoMap:new"},
        UpdateCase{"namespace_taken", kOther,
                   "{metadata: {name: other, annotations: {namespaces: '[\"n1\"]'}},"
                   " spec: {max: {cpu: 1}}}",
                   "UpdadteQuota, quota other update namespaces, but namespace n1 is already bound"
                   " to quota child"},
        UpdateCase{"parent_with_children", kTemp,
                   "{metadata: {name: temp}, spec: {min: {cpu: 64}, max: {cpu: 96}}}",
                   "quota has children, isParent is forbidden to modify as false, quotaName:temp"},
        UpdateCase{"parent_with_pods", kOther,
                   "{metadata: {name: other, labels: {is-parent: 'true'}}, spec: {max: {cpu: 1}}}",
                   "quota has bound pods, isParent is forbidden to modify as true, quotaName: "
                   "other"},
        UpdateCase{"tree", kOther,
                   "{metadata: {name: other, labels: {tree-id: t}}, spec: {max: {cpu: 1}}}",
                   "other tree id changed [] vs [t]"},
        UpdateCase{"children_min", kTemp,
                   "{metadata: {name: temp, labels: {is-parent: 'true'}},"
                   " spec: {min: {cpu: 39}, max: {cpu: 96}}}",
                   "checkMinQuotaSum all children's MinQuota > current MinQuota, current: temp"},
        UpdateCase{"children_max_keys", kTemp,
                   "{metadata: {name: temp, labels: {is-parent: 'true'}},"
                   " spec: {min: {cpu: 64}, max: {cpu: 96, gpu: 1}}}",
                   "failed to check sub and parent group quotaKey, err: "
                   "checkSubAndParentGroupQuotaKey failed: child's max keys are not the same with"
                   " temp's"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(QuotaTopologyTest, DeletingIsJudged) {
  EXPECT_EQ(Delete("koordinator-default-quota"),
            "can not delete quotaGroup :koordinator-default-quota");
  EXPECT_EQ(Delete("gone"), "not found quota:gone");
  EXPECT_EQ(Delete("temp"), "delete quota failed, quota temp has 1 child quotas");
  pods_["child"] = {{"n1", "a"}, {"n1", "b"}};
  EXPECT_EQ(Delete("child"), "delete quota failed, quota child has 2 child pods: a, b");
  pods_["child"] = {{"n1", "a"}, {"n1", "b"}, {"n1", "c"}};
  EXPECT_EQ(Delete("child"), "delete quota failed, quota child has 3 child pods: a, b, ...");
  pods_.clear();
  EXPECT_EQ(Delete("child"), "");
  EXPECT_EQ(Delete("temp"), "");
}

// Quotas and pods of a namespace are deleted in any order, and each refusal holds all of it up.
TEST_F(QuotaTopologyTest, WhatGoesWithTheNamespaceKeepsNoQuota) {
  const auto in = [](std::string_view ns, std::string_view name, std::string_view parent) {
    return Quota(fmt::format(
        "{{metadata: {{name: {}, namespace: {}, labels: {{is-parent: 'true', parent: {}}}}}}}",
        name, ns, parent));
  };
  const auto remove = [&](const char* name) {
    return std::string(Message(topology_.DeleteWithNamespace({"team", name}, Pods(), true)));
  };
  topology_.Set(in("team", "a", "koordinator-root-quota"));
  topology_.Set(in("team", "b", "a"));
  topology_.Set(in("elsewhere", "c", "b"));
  topology_.Set(in("team", "koordinator-default-quota", "koordinator-root-quota"));
  pods_["a"] = {{"team", "p"}};
  EXPECT_NE(Delete("a"), "") << "the namespace stays";
  EXPECT_EQ(remove("a"), "");
  EXPECT_EQ(topology_.Find("a"), nullptr);
  EXPECT_EQ(remove("a"), "") << "as if it had not been heard of yet";
  EXPECT_EQ(remove("koordinator-default-quota"), "");
  EXPECT_EQ(remove("b"), "delete quota failed, quota b has 1 child quotas") << "somebody else's";
  topology_.Remove("c");
  pods_["b"] = {{"team", "p"}, {"elsewhere", "q"}};
  EXPECT_EQ(remove("b"), "delete quota failed, quota b has 1 child pods: q");
  pods_.clear();
  EXPECT_EQ(remove("b"), "");
  EXPECT_EQ(remove("temp"), "") << "that is another quota of the name";
  EXPECT_NE(topology_.Find("temp"), nullptr);
}

// Anybody can pretend to be the API server where no certificate is asked for.
TEST_F(QuotaTopologyTest, WhatNeverShowsIsRememberedWithinBounds) {
  const auto quota = [](size_t i) {
    return fmt::format("{{metadata: {{name: q{}}}, spec: {{max: {{cpu: 1}}}}}}", i);
  };
  for (size_t i = 0; i < 2 * QuotaTopology::kMostExpected; ++i) EXPECT_EQ(Create(quota(i)), "");
  EXPECT_NE(topology_.Find("q0"), nullptr);
  EXPECT_EQ(topology_.Find(fmt::format("q{}", 2 * QuotaTopology::kMostExpected - 1)), nullptr);
  loop_.Advance(QuotaTopology::kPatience);
  EXPECT_EQ(Create(quota(0)), "");
  EXPECT_NE(topology_.Find("q0"), nullptr) << "there is room again";
}

TEST_F(QuotaTopologyTest, WhatWasAdmittedCountsUntilItShouldHaveShown) {
  EXPECT_EQ(Create("{metadata: {name: q, labels: {parent: temp}},"
                   " spec: {min: {cpu: 24}, max: {cpu: 96}}}"),
            "");
  EXPECT_NE(topology_.Find("q"), nullptr);
  EXPECT_NE(Create("{metadata: {name: r, labels: {parent: temp}},"
                   " spec: {min: {cpu: 1}, max: {cpu: 96}}}"),
            "");
  loop_.Advance(QuotaTopology::kPatience);
  EXPECT_EQ(topology_.Find("q"), nullptr);
  EXPECT_EQ(Create("{metadata: {name: r, labels: {parent: temp}},"
                   " spec: {min: {cpu: 1}, max: {cpu: 96}}}"),
            "");
}

TEST_F(QuotaTopologyTest, MinMustBeGuaranteedWhereThatIsAsked) {
  QuotaTopology topology(loop_.clock(), {.guarantee_usage = true});
  topology.Set(
      Quota("{metadata: {name: tree, labels: {is-parent: 'true', is-root: 'true',"
            " tree-id: t}, annotations: {guaranteed: '{\"cpu\":50}'}},"
            " spec: {min: {cpu: 100}, max: {cpu: 100}}}"));
  topology.Set(
      Quota("{metadata: {name: a, labels: {parent: tree, tree-id: t},"
            " annotations: {guaranteed: '{\"cpu\":20}'}},"
            " spec: {min: {cpu: 20}, max: {cpu: 100}}}"));
  const auto create = [&](int min) {
    return std::string(Message(topology.Create(
        Quota(fmt::format("{{metadata: {{name: b, labels: {{parent: tree, tree-id: t}}}},"
                          " spec: {{min: {{cpu: {}}}, max: {{cpu: 100}}}}}}",
                          min)),
        false)));
  };
  // The tree's own min is more than what it is guaranteed, so nothing above 0 is.
  EXPECT_EQ(create(10), "tree root quota tree can't guarantee for min b");
  EXPECT_EQ(create(0), "");
}

TEST_F(QuotaTopologyTest, QuotaOfAPod) {
  topology_.Set(Quota("{metadata: {name: n2, namespace: n2}, spec: {}}"));
  topology_.Set(Quota("{metadata: {name: n3, namespace: elsewhere}, spec: {}}"));
  const kube::Labels none;
  EXPECT_EQ(topology_.QuotaOf({{"quota.scheduling.koordinator.sh/name", "q"}}, "n1", false), "q");
  EXPECT_EQ(topology_.QuotaOf(none, "n1", false), "child");
  EXPECT_EQ(topology_.QuotaOf(none, "n2", false), "n2");
  EXPECT_EQ(topology_.QuotaOf(none, "n3", false), "koordinator-default-quota");
  EXPECT_EQ(topology_.QuotaOf(none, "n1", true), "");
}

TEST_F(QuotaTopologyTest, ParentsFormNoRing) {
  constexpr char kSelf[] =
      "{metadata: {name: self, labels: {parent: self, is-parent: 'true'}}, spec: {max: {cpu: 1}}}";
  EXPECT_EQ(Create(kSelf), "quota self cannot be its own parent");
  constexpr char kTop[] =
      "{metadata: {name: top, labels: {is-parent: 'true'}}, spec: {max: {cpu: 1}}}";
  constexpr char kMiddle[] =
      "{metadata: {name: middle, labels: {is-parent: 'true', parent: top}}, spec: {max: {cpu: 1}}}";
  constexpr char kLow[] =
      "{metadata: {name: low, labels: {is-parent: 'true', parent: middle}}, spec: {max: {cpu: 1}}}";
  EXPECT_EQ(Create(kTop), "");
  EXPECT_EQ(Create(kMiddle), "");
  EXPECT_EQ(Create(kLow), "");
  const auto top_below = [](std::string_view parent) {
    return fmt::format(
        "{{metadata: {{name: top, labels: {{is-parent: 'true', parent: {}}}}}, "
        "spec: {{max: {{cpu: 1}}}}}}",
        parent);
  };
  EXPECT_EQ(Update(kTop, top_below("top")), "quota top cannot be its own parent");
  EXPECT_EQ(Update(kTop, top_below("middle")),
            "quota top cannot have parent middle, which is below it: middle is below top");
  EXPECT_EQ(Update(kTop, top_below("low")),
            "quota top cannot have parent low, which is below it: low is below middle is below "
            "top");
}

// As somebody has made them while nobody answered: they end no search, and may be taken apart.
TEST_F(QuotaTopologyTest, RingsThatAreThereAlready) {
  constexpr char kA[] =
      "{metadata: {name: a, labels: {parent: b, is-parent: 'true'}}, spec: {max: {cpu: 1}}}";
  constexpr char kB[] =
      "{metadata: {name: b, labels: {parent: a, is-parent: 'true'}}, spec: {max: {cpu: 1}}}";
  topology_.Set(Quota(kA));
  topology_.Set(Quota(kB));
  EXPECT_EQ(Create("{metadata: {name: c, labels: {parent: a}}, spec: {max: {cpu: 1}}}"),
            "quota c cannot have parent a: following its parents never ends");
  EXPECT_EQ(Update(kA, "{metadata: {name: a, labels: {is-parent: 'true'}}, spec: {max: {cpu: 1}}}"),
            "");
  EXPECT_EQ(Create("{metadata: {name: c, labels: {parent: b}}, spec: {max: {cpu: 1}}}"), "");
}

TEST_F(QuotaTopologyTest, ShowsItself) {
  const kube::Json shown = topology_.ToJson();
  EXPECT_EQ(kube::Serialize(*kube::Find(shown, {"quotaInfoMap", "child"})),
            R"({"name":"child","parentName":"temp","isParent":false,"allowLentResource":true,)"
            R"("max":{"cpu":"96"},"min":{"cpu":"40"}})");
  EXPECT_EQ(kube::Serialize(*kube::Find(shown, {"quotaHierarchyInfo", "temp"})), R"(["child"])");
}

}  // namespace
}  // namespace koord::manager::quota_topology_test
