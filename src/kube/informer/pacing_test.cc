#include <gtest/gtest.h>

#include <set>

#include "base/virtual_loop.h"
#include "kube/client/backoff.h"
#include "kube/client/token_bucket.h"
#include "kube/informer/resource_version.h"

namespace koord::kube::pacing_test {
namespace {

TEST(TokenBucketTest, ServesABurstThenTheRate) {
  VirtualLoop loop;
  TokenBucket bucket(loop.clock(), 10, 3);
  EXPECT_EQ(bucket.Reserve(), 0ms);
  EXPECT_EQ(bucket.Reserve(), 0ms);
  EXPECT_EQ(bucket.Reserve(), 0ms);
  EXPECT_EQ(bucket.Reserve(), 100ms);
  EXPECT_EQ(bucket.Reserve(), 200ms);
  EXPECT_FALSE(bucket.TryTake());
  loop.Advance(1h);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.TryTake());
  EXPECT_FALSE(bucket.TryTake());
}

TEST(TokenBucketTest, ZeroIsNoLimit) {
  VirtualLoop loop;
  TokenBucket bucket(loop.clock(), 0, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(bucket.Reserve(), 0ms);
  EXPECT_TRUE(bucket.TryTake());
}

TEST(BackoffTest, DoublesUpToThirtySecondsWithJitterAndStartsOverAfterTwoQuietMinutes) {
  VirtualLoop loop;
  Backoff backoff(loop.clock(), 1);
  std::set<Duration> last;
  for (const Duration base : {800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30000ms, 30000ms}) {
    const Duration pause = backoff.Next();
    EXPECT_GE(pause, base);
    EXPECT_LT(pause, 2 * base);
    last.insert(pause - base);
    loop.Advance(pause);
  }
  EXPECT_EQ(last.size(), 8u) << "no jitter";
  loop.Advance(2min);
  EXPECT_LT(backoff.Next(), 1600ms);
}

TEST(ResourceVersionTest, ComparesNumbersAndNothingElse) {
  EXPECT_TRUE(IsOlderVersion("9", "10"));
  EXPECT_TRUE(IsOlderVersion("18446744073709551615", "18446744073709551616"));
  EXPECT_FALSE(IsOlderVersion("10", "10"));
  EXPECT_FALSE(IsOlderVersion("10", "9"));
  EXPECT_FALSE(IsOlderVersion("", "9"));
  EXPECT_FALSE(IsOlderVersion("a", "b"));
}

}  // namespace
}  // namespace koord::kube::pacing_test
