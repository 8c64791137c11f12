#include "base/uuid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::uuid_test {
namespace {

TEST(UuidTest, HasTheFormOfVersionFourAndFollowsTheSeed) {
  Random first(1), same(1), other(2);
  const std::string uuid = NewUuid(first);
  EXPECT_THAT(uuid, testing::MatchesRegex(
                        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_EQ(uuid, NewUuid(same));
  EXPECT_NE(uuid, NewUuid(other));
  EXPECT_NE(uuid, NewUuid(first));
}

}  // namespace
}  // namespace koord::uuid_test
