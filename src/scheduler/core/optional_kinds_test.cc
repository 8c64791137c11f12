#include "scheduler/core/optional_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reservation.h"
#include "api/resources.h"
#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"

namespace koord::scheduler::optional_kinds_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OptionalKindsTest : public testing::Test {
 protected:
  using Ptr = std::shared_ptr<const api::Reservation>;

  void Watch() {
    kinds_.Watch<api::Reservation>(api::kReservations, [this](const Ptr& before, const Ptr& after) {
      seen_.push_back(fmt::format("{}{}",
                                  before == nullptr  ? "+"
                                  : after == nullptr ? "-"
                                                     : "~",
                                  (after != nullptr ? after : before)->metadata.name));
    });
    kinds_.Start();
    kinds_.WhenKnown([this] { ++known_; });
    loop_.RunReady();
  }
  void Refuse(int code, std::string reason) {
    server_.Take().Fail({.code = code, .reason = std::move(reason), .message = "no"});
    loop_.RunReady();
  }
  // It is there: the look at it, and then what the informer asks for.
  void ShowOne() {
    server_.Take().Answer(List());
    loop_.RunReady();
    auto streamed = server_.Take();  // a list as a watch, which this server does not offer
    streamed.Fail({.code = 400, .reason = "BadRequest", .message = "no streamed lists"});
    loop_.RunReady();
    server_.Take().Answer(List());
    loop_.RunReady();
  }
  static kube::Json List() {
    return {{"metadata", {{"resourceVersion", "7"}}},
            {"items", {{{"metadata", {{"name", "r"}, {"uid", "1"}, {"resourceVersion", "7"}}}}}}};
  }

  VirtualLoop loop_;
  kube::ScriptedHandler server_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, server_), {.qps = 0}};
  OptionalKinds kinds_{client_, {.lender = nullptr}};
  std::vector<std::string> seen_;
  int known_ = 0;
};

TEST_F(OptionalKindsTest, OneThatIsThereIsKnownOnceItWasListed) {
  Watch();
  EXPECT_EQ(known_, 0);
  ShowOne();
  EXPECT_EQ(known_, 1);
  EXPECT_THAT(seen_, ElementsAre("+r"));
  EXPECT_THAT(kinds_.absences(), IsEmpty());
}

TEST_F(OptionalKindsTest, OneThatIsNotInstalledCountsAsEmptyAndIsLookedForAgain) {
  Watch();
  Refuse(404, "NotFound");
  EXPECT_EQ(known_, 1) << "nobody waits for it";
  EXPECT_THAT(kinds_.absences(),
              ElementsAre(HasSubstr("reservations.scheduling.koordinator.sh are not installed")));
  EXPECT_EQ(server_.waiting(), 0u);
  loop_.Advance(OptionalKinds::kLookAgain);
  ShowOne();
  EXPECT_THAT(seen_, ElementsAre("+r"));
  EXPECT_THAT(kinds_.absences(), IsEmpty());
}

TEST_F(OptionalKindsTest, OneThatMayNotBeListedCountsAsEmptyToo) {
  Watch();
  Refuse(403, "Forbidden");
  EXPECT_EQ(known_, 1);
  EXPECT_THAT(kinds_.absences(), ElementsAre(HasSubstr("may not be listed")));
}

TEST_F(OptionalKindsTest, AServerThatFailsSaysNothingAboutTheKind) {
  Watch();
  Refuse(500, "InternalError");
  EXPECT_EQ(known_, 0);
  EXPECT_THAT(kinds_.absences(), IsEmpty());
  loop_.Advance(5s);
  ShowOne();
  EXPECT_EQ(known_, 1);
}

TEST_F(OptionalKindsTest, OneThatIsThereIsListedOnceMoreOnRequest) {
  Watch();
  ShowOne();
  while (server_.waiting() > 0) server_.Take();  // its watch, which says nothing
  int refreshed = 0;
  kinds_.Refresh(api::kReservations, [&] { ++refreshed; });
  loop_.RunReady();
  EXPECT_EQ(refreshed, 0);
  server_.Take().Answer({{"metadata", {{"resourceVersion", "8"}}}, {"items", kube::json::array()}});
  loop_.RunReady();
  EXPECT_EQ(refreshed, 1);
  EXPECT_THAT(seen_, ElementsAre("+r", "-r"));
}

TEST_F(OptionalKindsTest, OneThatWasNotThereIsLookedForOnRequest) {
  Watch();
  Refuse(404, "NotFound");
  int refreshed = 0;
  kinds_.Refresh(api::kReservations, [&] { ++refreshed; });
  loop_.RunReady();
  EXPECT_EQ(refreshed, 0);
  ShowOne();
  EXPECT_EQ(refreshed, 1);
  EXPECT_THAT(seen_, ElementsAre("+r"));
  kinds_.Refresh(api::kNodeMetrics, [&] { ++refreshed; });
  EXPECT_EQ(refreshed, 2) << "nobody watches them";
}

TEST_F(OptionalKindsTest, NobodyAsksForWhatNobodyNeeds) {
  kinds_.Start();
  kinds_.WhenKnown([this] { ++known_; });
  loop_.RunReady();
  EXPECT_EQ(server_.waiting(), 0u);
  EXPECT_EQ(known_, 1);
}

TEST_F(OptionalKindsTest, NothingIsAskedAfterTheStop) {
  Watch();
  Refuse(404, "NotFound");
  kinds_.Stop();
  loop_.Advance(1h);
  EXPECT_EQ(server_.waiting(), 0u);
}

}  // namespace
}  // namespace koord::scheduler::optional_kinds_test
