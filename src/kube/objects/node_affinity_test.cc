#include "kube/objects/node_affinity.h"

#include <gtest/gtest.h>

namespace koord::kube::node_affinity_test {
namespace {

struct Case {
  std::string what;
  NodeSelectorRequirement requirement;
  bool matches;
};

class RequirementTest : public testing::TestWithParam<Case> {};

TEST_P(RequirementTest, OnZoneANumberFive) {
  const Labels labels{{"zone", "a"}, {"number", "5"}, {"text", "x"}};
  EXPECT_EQ(Matches(GetParam().requirement, labels), GetParam().matches);
}

INSTANTIATE_TEST_SUITE_P(
    , RequirementTest,
    testing::Values(Case{"In", {"zone", "In", {"b", "a"}}, true},
                    Case{"InOthers", {"zone", "In", {"b"}}, false},
                    Case{"InMissing", {"none", "In", {"a"}}, false},
                    Case{"NotIn", {"zone", "NotIn", {"a"}}, false},
                    Case{"NotInOthers", {"zone", "NotIn", {"b"}}, true},
                    Case{"NotInMissing", {"none", "NotIn", {"a"}}, true},
                    Case{"Exists", {"zone", "Exists", {}}, true},
                    Case{"ExistsMissing", {"none", "Exists", {}}, false},
                    Case{"DoesNotExist", {"zone", "DoesNotExist", {}}, false},
                    Case{"DoesNotExistMissing", {"none", "DoesNotExist", {}}, true},
                    Case{"Gt", {"number", "Gt", {"4"}}, true},
                    Case{"GtEqual", {"number", "Gt", {"5"}}, false},
                    Case{"Lt", {"number", "Lt", {"10"}}, true},
                    Case{"LtEqual", {"number", "Lt", {"5"}}, false},
                    Case{"GtMissing", {"none", "Gt", {"1"}}, false},
                    Case{"GtOfText", {"text", "Gt", {"1"}}, false},
                    Case{"GtThanText", {"number", "Gt", {"x"}}, false},
                    Case{"GtTwoValues", {"number", "Gt", {"1", "2"}}, false},
                    Case{"UnknownOperator", {"zone", "Like", {"a"}}, false}),
    [](const auto& info) { return info.param.what; });

TEST(NodeSelectorTest, TermsAreAlternativesAndRequirementsAllHold) {
  const Labels labels{{"zone", "a"}, {"disk", "ssd"}};
  const NodeSelectorTerm zone_a{.match_expressions = {{"zone", "In", {"a"}}}};
  const NodeSelectorTerm zone_b{.match_expressions = {{"zone", "In", {"b"}}}};
  const NodeSelectorTerm a_and_hdd{
      .match_expressions = {{"zone", "In", {"a"}}, {"disk", "In", {"hdd"}}}};
  EXPECT_TRUE(Matches(NodeSelector{{zone_b, zone_a}}, "n", labels));
  EXPECT_FALSE(Matches(NodeSelector{{zone_b, a_and_hdd}}, "n", labels));
}

TEST(NodeSelectorTest, EmptyTermsAndNoTermsMatchNothing) {
  EXPECT_FALSE(Matches(NodeSelector{}, "n", {}));
  EXPECT_FALSE(Matches(NodeSelector{{NodeSelectorTerm{}}}, "n", {}));
}

TEST(NodeSelectorTest, FieldsAreAboutTheName) {
  const NodeSelectorTerm in{.match_fields = {{"metadata.name", "In", {"n"}}}};
  const NodeSelectorTerm not_in{.match_fields = {{"metadata.name", "NotIn", {"n"}}}};
  const NodeSelectorTerm other{.match_fields = {{"metadata.uid", "In", {"n"}}}};
  EXPECT_TRUE(Matches(in, "n", {}));
  EXPECT_FALSE(Matches(in, "m", {}));
  EXPECT_FALSE(Matches(not_in, "n", {}));
  EXPECT_TRUE(Matches(not_in, "m", {}));
  EXPECT_FALSE(Matches(other, "n", {}));
}

}  // namespace
}  // namespace koord::kube::node_affinity_test
