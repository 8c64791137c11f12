#include "scheduler/queue/backoff.h"

#include <gtest/gtest.h>

#include <limits>

namespace koord::scheduler::backoff_test {
namespace {

TEST(Backoff, DoublesUpToTheLimit) {
  struct Case {
    int failures;
    Duration expected;
  };
  for (const auto& [failures, expected] : {Case{0, 0s},
                                           {1, 1s},
                                           {2, 2s},
                                           {3, 4s},
                                           {4, 8s},
                                           {5, 10s},
                                           {6, 10s},
                                           {64, 10s},
                                           {1000, 10s},
                                           {std::numeric_limits<int>::max(), 10s}}) {
    EXPECT_EQ(Backoff{}.After(failures), expected) << failures;
  }
}

TEST(Backoff, SettingsAtTheirEdges) {
  struct Case {
    std::string_view what;
    Backoff backoff;
    int failures;
    Duration expected;
  };
  for (const Case& test : {Case{"a power of two as limit", {1s, 8s}, 4, 8s},
                           {"and beyond", {1s, 8s}, 5, 8s},
                           {"limit as large as the first", {3s, 3s}, 1, 3s},
                           {"no limit means no backoff", {1s, 0s}, 3, 0s},
                           {"years do not overflow", {1h, Duration::max()}, 40, Duration::max()}}) {
    EXPECT_EQ(test.backoff.After(test.failures), test.expected) << test.what;
  }
}

TEST(Backoff, CountsWholeSeconds) {
  struct Case {
    std::string_view what;
    Duration failed_at;
    int failures;
    Duration last_waiting;  // a moment when it still waits
    Duration first_free;    // and the first one when not
  };
  for (const Case& test : {Case{"on the second", 5s, 1, 6999ms, 7s},
                           {"within a second", 5500ms, 1, 6999ms, 7s},
                           {"just before the next", 5999ms, 1, 6999ms, 7s},
                           {"longer", 5200ms, 3, 9999ms, 10s}}) {
    const auto until = Backoff{}.Until(test.failed_at, test.failures);
    ASSERT_TRUE(until.has_value()) << test.what;
    EXPECT_TRUE(StillWaits(*until, test.last_waiting)) << test.what;
    EXPECT_FALSE(StillWaits(*until, test.first_free)) << test.what;
  }
  EXPECT_FALSE(Backoff{}.Until(5s, 0).has_value());
  EXPECT_FALSE((Backoff{1s, 0s}).Until(5s, 1).has_value());
}

}  // namespace
}  // namespace koord::scheduler::backoff_test
