#include "localcluster/apiserver/http/warning_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::apiserver::warning_headers_test {
namespace {

using testing::ElementsAre;

std::string Text(size_t length, char c = 'x') { return std::string(length, c); }
std::string Header(const std::string& text) { return "299 - \"" + text + "\""; }

TEST(WarningValues, EachTextOnceAndEscaped) {
  EXPECT_THAT(WarningValues({"a", "", "say \"b\"\n\\", "a"}),
              ElementsAre(R"(299 - "a")", R"(299 - "say \"b\"\\")"));
}

TEST(WarningValues, AllInFullWhereTheyFit) {
  EXPECT_THAT(WarningValues({Text(4000), Text(96, 'y')}),
              ElementsAre(Header(Text(4000)), Header(Text(96, 'y'))));
}

TEST(WarningValues, CutToTheirBeginningsWhereTheyDoNot) {
  EXPECT_THAT(WarningValues({Text(4000), Text(97, 'y')}),
              ElementsAre(Header(Text(256)), Header(Text(97, 'y'))));
}

TEST(WarningValues, CharactersCountAndAreNeverCut) {
  std::string umlauts;
  for (int i = 0; i < 5000; ++i) umlauts += "ü";
  EXPECT_THAT(WarningValues({umlauts}), ElementsAre(Header(umlauts.substr(0, 512))));
  EXPECT_THAT(WarningValues({umlauts.substr(0, 8192)}),
              ElementsAre(Header(umlauts.substr(0, 8192))));
}

TEST(WarningValues, TheRestIsLeftOut) {
  std::vector<std::string> many;
  for (int i = 0; i < 10'000; ++i) many.push_back(Text(300, 'x') + std::to_string(i));
  EXPECT_EQ(WarningValues(many).size(), 16u);
}

}  // namespace
}  // namespace koord::apiserver::warning_headers_test
