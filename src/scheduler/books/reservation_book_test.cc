#include "scheduler/books/reservation_book.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/books/books.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::reservation_book_test {
namespace {

class ReservationBookTest : public ::testing::Test {
 protected:
  ReservationBookTest() {
    bed_.AddNode("{metadata: {name: a}, status: {allocatable: {cpu: '10'}}}");
    bed_.AddNode("{metadata: {name: b}, status: {allocatable: {cpu: '10'}}}");
  }

  void AddReservation(std::string_view uid, std::string_view name, std::string_view node, int cpu) {
    bed_.AddPod(fmt::format(
        "{{metadata: {{name: {0}, annotations: {{scheduling.koordinator.sh/reserve-pod: 'true', "
        "scheduling.koordinator.sh/reservation-name: {1}}}}}, spec: {{nodeName: {2}, containers: "
        "[{{resources: {{requests: {{cpu: {3}}}}}}}]}}}}",
        uid, name, node, cpu));
  }
  void AddOwner(std::string_view name, std::string_view node, std::string_view of) {
    bed_.AddPod(fmt::format(
        "{{metadata: {{name: {0}, annotations: {{scheduling.koordinator.sh/reservation-allocated: "
        "'{{\"name\":\"x\",\"uid\":\"{2}\"}}'}}}}, spec: {{nodeName: {1}, containers: "
        "[{{resources: {{requests: {{cpu: 2, memory: 1Gi}}}}}}]}}}}",
        name, node, of));
  }
  // "name: reserved cpu, used cpu, owners" of those on a node.
  std::string On(std::string_view node) const {
    std::string text;
    for (const auto* entry : book_.On(*bed_.ledger.nodes().Find(node))) {
      const ResourceAmounts used = ReservationBook::UsedOf(*entry);
      text += fmt::format("{}: {}, {}, {}; ", entry->name,
                          AmountOf(ReservationBook::ReservedOf(*entry), kCpuId),
                          AmountOf(used, kCpuId), entry->owners.size());
      EXPECT_EQ(AmountOf(used, kMemoryId), 0) << "is not reserved";
    }
    return text;
  }

  PluginBed bed_;
  const ReservationBook& book_ = bed_.context.books.reservations;
};

TEST_F(ReservationBookTest, KnowsWhoHoldsAndWhoDraws) {
  AddReservation("r1", "one", "a", 6);
  AddReservation("r2", "two", "a", 1);
  AddOwner("o", "a", "r1");
  EXPECT_EQ(On("a"), "one: 6000, 2000, 1; two: 1000, 0, 0; ");
  EXPECT_EQ(On("b"), "");
  ASSERT_NE(book_.Find("one"), nullptr);
  EXPECT_EQ(book_.Find("one")->uid, "r1");
  EXPECT_EQ(book_.FindByUid("r2")->name, "two");
  EXPECT_EQ(book_.Find("three"), nullptr);
}

TEST_F(ReservationBookTest, OwnersElsewhereUseNothingOfIt) {
  AddReservation("r1", "one", "a", 6);
  AddOwner("o", "b", "r1");
  EXPECT_EQ(On("a"), "one: 6000, 0, 1; ");
}

TEST_F(ReservationBookTest, OwnersMayComeFirstAndStayLast) {
  AddOwner("o", "a", "r1");
  EXPECT_EQ(book_.FindByUid("r1")->reserve_pod, nullptr);
  EXPECT_EQ(book_.Find("one"), nullptr);
  AddReservation("r1", "one", "a", 6);
  EXPECT_EQ(On("a"), "one: 6000, 2000, 1; ");
  bed_.ledger.RemovePod("r1");
  EXPECT_EQ(On("a"), "");
  EXPECT_EQ(book_.Find("one"), nullptr);
  EXPECT_EQ(book_.FindByUid("r1")->owners.size(), 1U);
  bed_.ledger.RemovePod("o");
  EXPECT_EQ(book_.size(), 0U) << "nothing stays behind";
}

TEST_F(ReservationBookTest, ANameMayBeUsedAgain) {
  AddReservation("r1", "one", "a", 6);
  AddReservation("r2", "one", "b", 1);
  EXPECT_EQ(book_.Find("one")->uid, "r2");
  bed_.ledger.RemovePod("r1");
  ASSERT_NE(book_.Find("one"), nullptr);
  EXPECT_EQ(book_.Find("one")->uid, "r2");
}

TEST_F(ReservationBookTest, FollowsANodeThatGoesAndComesBack) {
  AddReservation("r1", "one", "a", 6);
  AddOwner("o", "a", "r1");
  bed_.ledger.RemoveNode("a");
  EXPECT_EQ(book_.size(), 0U);
  bed_.AddNode("{metadata: {name: a}}");
  EXPECT_EQ(On("a"), "one: 6000, 2000, 1; ");
}

TEST_F(ReservationBookTest, FollowsARollBack) {
  AddReservation("r1", "one", "a", 6);
  AddOwner("o", "a", "r1");
  const auto savepoint = bed_.ledger.Mark();
  bed_.ledger.RemovePod("r1");
  bed_.ledger.RemovePod("o");
  EXPECT_EQ(book_.size(), 0U);
  bed_.ledger.RollBack(savepoint);
  EXPECT_EQ(On("a"), "one: 6000, 2000, 1; ");
}

}  // namespace
}  // namespace koord::scheduler::reservation_book_test
