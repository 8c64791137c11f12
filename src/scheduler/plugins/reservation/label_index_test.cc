#include "scheduler/plugins/reservation/label_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/plugins/reservation/reservation_testing.h"

namespace koord::scheduler::selector_index_test {
namespace {

using ::testing::HasSubstr;

class ReservationLabelIndexTest : public ::testing::Test, protected ReservationBed {
 protected:
  ReservationLabelIndexTest() {
    for (const char* node : {"a", "b"}) Node(node, 10);
  }
  void Labelled(std::string_view name, std::string_view node, std::string_view labels) {
    Reserve(name, node, "cpu: 1", ", owners: [{}], allocateOnce: false",
            fmt::format(", labels: {{{}}}", labels));
  }

  metrics::Registry registry_;
  Offers offers_{context};
  ReservationLabelIndex index_{
      {.enabled = true, .key_prefixes = {"team/"}, .keys = {"pool"}}, offers_, &registry_};
};

TEST_F(ReservationLabelIndexTest, TheSmallestBucketOfExactKeysBeforePrefixes) {
  Labelled("r1", "a", "pool: x, team/name: t");
  Labelled("r2", "a", "pool: x");
  Labelled("r3", "b", "pool: x");
  EXPECT_EQ(index_.NodesWith({{"pool", "x"}}), 2u);
  EXPECT_EQ(index_.NodesWith({{"team/name", "t"}}), 1u);
  EXPECT_EQ(index_.NodesWith({{"pool", "x"}, {"team/name", "t"}}), 2u);
  EXPECT_EQ(index_.NodesWith({{"pool", "y"}}), 0u);
  EXPECT_EQ(index_.NodesWith({{"zone", "z"}}), std::nullopt);
  Delete("r3");
  EXPECT_EQ(index_.NodesWith({{"pool", "x"}}), 1u);
}

TEST_F(ReservationLabelIndexTest, CountsWhatWasAsked) {
  Labelled("r1", "a", "pool: x");
  index_.Count({{"pool", "x"}});
  index_.Count({{"pool", "nobody"}});
  index_.Count({{"zone", "z"}});
  index_.Count({});
  const std::string text = registry_.Text();
  EXPECT_THAT(text,
              HasSubstr("scheduler_reservation_selector_index_query_total{result=\"hit\"} 2"));
  EXPECT_THAT(text,
              HasSubstr("scheduler_reservation_selector_index_query_total{result=\"miss\"} 1"));
  EXPECT_THAT(text, HasSubstr("scheduler_reservation_selector_index_candidates_count_count 1"));
}

}  // namespace
}  // namespace koord::scheduler::selector_index_test
