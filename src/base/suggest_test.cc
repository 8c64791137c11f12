#include "base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace koord::suggest_test {
namespace {

const std::vector<std::string> kCommands{"up", "down", "status", "test", "version", "completion"};

TEST(Suggest, FindsTheCommandBehindATypingError) {
  EXPECT_EQ(Suggest("statsu", kCommands), "status");
  EXPECT_EQ(Suggest("tets", kCommands), "test");
  EXPECT_EQ(Suggest("Version", kCommands), "version");
  EXPECT_EQ(Suggest("donw", kCommands), "down");
}

TEST(Suggest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(Suggest("frobnicate", kCommands), std::nullopt);
  EXPECT_EQ(Suggest("x", kCommands), std::nullopt);
  EXPECT_EQ(Suggest("", kCommands), std::nullopt);
}

}  // namespace
}  // namespace koord::suggest_test
