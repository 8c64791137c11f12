#include "cli/scenario/match.h"

#include <gmock/gmock.h>

namespace koord::scenario::match_test {
namespace {

std::vector<Mismatch> MatchTexts(std::string_view expected, std::string_view actual) {
  return Match(*kube::ParseJson(expected), *kube::ParseJson(actual));
}

struct Case {
  const char* name;
  const char* expected;
  const char* actual;
  bool matches;
};

class MatchTest : public ::testing::TestWithParam<Case> {};

TEST_P(MatchTest, AgreesWithTheRules) {
  EXPECT_EQ(MatchTexts(GetParam().expected, GetParam().actual).empty(), GetParam().matches);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, MatchTest,
    ::testing::Values(Case{"StatedMembersOnly", R"({"a":1})", R"({"a":1,"b":2})", true},
                      Case{"OtherValue", R"({"a":1})", R"({"a":2})", false},
                      Case{"MissingMember", R"({"a":1})", R"({"b":1})", false},
                      Case{"NullMeansAbsent", R"({"a":null})", R"({"b":1})", true},
                      Case{"NullBelowWhatIsAbsent", R"({"a":{"b":null}})", R"({"c":1})", true},
                      Case{"EmptyObjectIsNotAbsent", R"({"a":{}})", R"({"c":1})", false},
                      Case{"NullButPresent", R"({"a":null})", R"({"a":1})", false},
                      Case{"ListContainsInAnyOrder", R"([2,1])", R"([1,3,2])", true},
                      Case{"ListLacksOne", R"([4])", R"([1,3,2])", false},
                      Case{"ElementsMatchBySubset", R"([{"t":"A"}])",
                           R"([{"t":"B"},{"t":"A","s":"x"}])", true},
                      Case{"EmptyListMatchesAnyList", R"([])", R"([1])", true},
                      Case{"RegexFound", R"("/Insuff.*cpu/")", R"("0/1: Insufficient cpu.")", true},
                      Case{"RegexNotFound", R"("/gpu/")", R"("Insufficient cpu")", false},
                      Case{"BrokenRegexMatchesNothing", R"("/(/")", R"("(")", false},
                      Case{"NumberSpelledAsString", R"({"cpu":4})", R"({"cpu":"4"})", true},
                      Case{"StringIsNotANumber", R"({"n":"4"})", R"({"n":4})", false},
                      Case{"OtherType", R"({"a":{}})", R"({"a":[]})", false}),
    [](const auto& info) { return info.param.name; });

TEST(MatchReport, NamesThePathOfTheNearestElement) {
  const auto mismatches =
      MatchTexts(R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})",
                 R"({"status":{"conditions":[{"type":"Old"},{"type":"Ready","status":"False"}]}})");
  ASSERT_EQ(mismatches.size(), 1u);
  EXPECT_EQ(mismatches[0].path, "status.conditions[1].status");
  EXPECT_EQ(mismatches[0].expected, "\"True\"");
  EXPECT_EQ(mismatches[0].actual, "\"False\"");
}

TEST(MatchReport, ShowsTheWholeListWhenNothingIsNear) {
  const auto mismatches = MatchTexts(R"({"l":[{"type":"Ready"}]})", R"({"l":[{"type":"Old"}]})");
  ASSERT_EQ(mismatches.size(), 1u);
  EXPECT_EQ(mismatches[0].path, "l");
  EXPECT_EQ(mismatches[0].actual, R"([{"type":"Old"}])");
}

}  // namespace
}  // namespace koord::scenario::match_test
