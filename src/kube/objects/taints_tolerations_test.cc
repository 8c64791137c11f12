#include "kube/objects/taints_tolerations.h"

#include <gtest/gtest.h>

namespace koord::kube::taints_tolerations_test {
namespace {

struct Case {
  std::string what;
  Toleration toleration;
  bool tolerated;
};

class ToleratesTest : public testing::TestWithParam<Case> {};

TEST_P(ToleratesTest, TaintKeyValueNoSchedule) {
  const Taint taint{.key = "key", .value = "value", .effect = "NoSchedule"};
  EXPECT_EQ(Tolerates(GetParam().toleration, taint), GetParam().tolerated);
}

INSTANTIATE_TEST_SUITE_P(
    , ToleratesTest,
    testing::Values(Case{"Equal", {.key = "key", .op = "Equal", .value = "value"}, true},
                    Case{"NoOperatorMeansEqual", {.key = "key", .value = "value"}, true},
                    Case{"OtherValue", {.key = "key", .value = "other"}, false},
                    Case{"OtherKey", {.key = "other", .op = "Exists"}, false},
                    Case{"ExistsIgnoresValue", {.key = "key", .op = "Exists", .value = "x"}, true},
                    Case{"ExistsWithoutKey", {.op = "Exists"}, true},
                    Case{"SameEffect", {.op = "Exists", .effect = "NoSchedule"}, true},
                    Case{"OtherEffect", {.op = "Exists", .effect = "NoExecute"}, false},
                    Case{"UnknownOperator", {.key = "key", .op = "Gt", .value = "value"}, false}),
    [](const auto& info) { return info.param.what; });

TEST(FindUntoleratedTest, SkipsPreferencesAndWhatIsTolerated) {
  const std::vector<Taint> taints{{.key = "a", .effect = "PreferNoSchedule"},
                                  {.key = "b", .effect = "NoSchedule"},
                                  {.key = "c", .effect = "NoExecute"}};
  const std::vector<Toleration> tolerations{{.key = "b", .op = "Exists"}};
  const Taint* found = FindUntolerated(taints, tolerations);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->key, "c");
  const std::vector<Toleration> everything{{.op = "Exists"}};
  EXPECT_EQ(FindUntolerated(taints, everything), nullptr);
}

}  // namespace
}  // namespace koord::kube::taints_tolerations_test
