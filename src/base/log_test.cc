#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace koord::log_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::SizeIs;

class Log : public testing::Test {
 protected:
  Log() {
    log::SetSink([this](std::string_view line) { lines_.emplace_back(line); });
  }
  ~Log() override {
    log::SetSink(nullptr);
    log::SetFormat(log::Format::kText);
    log::SetVerbosity(0);
  }
  std::vector<std::string> lines_;
};

TEST_F(Log, LooksLikeKlog) {
  LOG_INFO("Bound pod", {"pod", "ns/p"}, {"attempts", 3}, {"ok", true});
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0],
              MatchesRegex("I[0-9]{4} [0-9:]{8}\\.[0-9]{6} +[0-9]+ log_test\\.cc:[0-9]+\\] "
                           "\"Bound pod\" pod=\"ns/p\" attempts=3 ok=true"));
}

TEST_F(Log, UserTextCannotForgeLines) {
  LOG_ERROR("Bad\nname", {"name", "a\"\nE0101"}, {"error", absl::InternalError("x\ty")});
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_EQ(lines_[0].find('\n'), std::string::npos);
  EXPECT_THAT(lines_[0], HasSubstr(R"("Bad\nname" name="a\"\nE0101" error="x\u0009y")"));
  EXPECT_EQ(lines_[0][0], 'E');
}

TEST_F(Log, LinesAreBounded) {
  const std::string field(5000, 'x');
  LOG_WARNING("Long", {"a", field}, {"b", field}, {"c", field}, {"d", field}, {"e", field});
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_LE(lines_[0].size(), 4096u);
}

TEST_F(Log, VerbosityIsAThreshold) {
  LOG_V(4, "hidden");
  log::SetVerbosity(4);
  LOG_V(4, "shown");
  LOG_V(5, "hidden");
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0], HasSubstr("shown"));
}

TEST_F(Log, Json) {
  log::SetFormat(log::Format::kJson);
  LOG_INFO("Bound \"pod\"", {"pod", "ns/p"}, {"attempts", 3});
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0], MatchesRegex("\\{\"ts\":[0-9.]+,\"level\":\"info\",\"caller\":"
                                      "\"log_test\\.cc:[0-9]+\",\"msg\":\"Bound ..pod..\","
                                      "\"pod\":\"ns/p\",\"attempts\":3\\}"));
}

}  // namespace
}  // namespace koord::log_test
