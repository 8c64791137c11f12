#include "model/reservation/reservation_score.h"

#include <gtest/gtest.h>

#include "model/reservation/reservation_testing.h"

namespace koord::model::reservation_score_test {
namespace {

int64_t Score(std::string_view allocatable, std::string_view allocated) {
  return ReservationScore(ListOf("{cpu: 3, memory: 4Gi}"), ListOf(allocatable), ListOf(allocated));
}

// TV8.
TEST(ReservationScore, PrefersTheOneThatBecomesFullest) {
  EXPECT_EQ(Score("{cpu: 6, memory: 12Gi}", "{cpu: 1}"), 49);
  EXPECT_EQ(Score("{cpu: 6, memory: 12Gi}", "{cpu: 4}"), 16);
  EXPECT_EQ(Score("{cpu: 4, memory: 4Gi}", "{}"), 87);
}

TEST(ReservationScore, IsAboutWhatIsReserved) {
  EXPECT_EQ(Score("{}", "{}"), 0);
  EXPECT_EQ(Score("{cpu: 0, memory: 4Gi}", "{}"), 100);
  EXPECT_EQ(Score("{cpu: 6, gpu: 1}", "{}"), 25) << "what the pod does not ask for counts, too";
}

TEST(ReservationScore, HasRoomForLargeAmounts) {
  EXPECT_EQ(ReservationScore(ListOf("{memory: 4Pi}"), ListOf("{memory: 8Pi}"), {}), 50);
}

}  // namespace
}  // namespace koord::model::reservation_score_test
