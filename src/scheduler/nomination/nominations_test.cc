#include "scheduler/nomination/nominations.h"

#include <gmock/gmock.h>

#include <set>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::nominations_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NominationsTest : public ::testing::Test {
 protected:
  using PodPtr = Nominations::PodPtr;

  // Of priority 5.
  static PodPtr Pod(std::string_view name, std::string_view nominated = "''") {
    return PodOf(fmt::format(
        "{{metadata: {{name: {}}}, spec: {{priority: 5}}, status: {{nominatedNodeName: {}}}}}",
        name, nominated));
  }
  // Who has been told since: "priority" or "priority but uid".
  std::vector<std::string> Told() { return std::exchange(told_, {}); }
  // Whether pipelines see the promise.
  bool IsShownAt(std::string_view node) {
    return nominations_.rows().Has(*bed_.ledger.nodes().Find(node));
  }

  PluginBed bed_;
  std::set<std::string> gone_;
  std::vector<std::string> told_;
  Nominations nominations_{
      bed_.ledger, [this](const kube::Pod& pod) { return !gone_.contains(pod.metadata.uid); },
      [this](const WakeFilter& filter) {
        told_.push_back(
            filter.except_uid.empty()
                ? fmt::format("{}", filter.max_priority.value())
                : fmt::format("{} but {}", filter.max_priority.value(), filter.except_uid));
      }};
};

TEST_F(NominationsTest, APromiseIsShownToPipelinesAndFreesNothing) {
  bed_.AddNode("{metadata: {name: a}}");
  nominations_.Nominate(Pod("p"), "a");
  EXPECT_EQ(nominations_.NodeOf("p"), "a");
  EXPECT_TRUE(IsShownAt("a"));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(NominationsTest, APromiseThatMovesFreesTheRoomThatItLeaves) {
  bed_.AddNode("{metadata: {name: a}}");
  bed_.AddNode("{metadata: {name: b}}");
  nominations_.OnPending(nullptr, Pod("p", "a"));
  EXPECT_THAT(Told(), IsEmpty());
  nominations_.OnPending(Pod("p", "a"), Pod("p", "b"));
  EXPECT_FALSE(IsShownAt("a"));
  EXPECT_TRUE(IsShownAt("b"));
  EXPECT_THAT(Told(), ElementsAre("5 but p"));
  nominations_.Nominate(Pod("p", "b"), "");
  EXPECT_FALSE(IsShownAt("b"));
  EXPECT_THAT(Told(), ElementsAre("5 but p"));
}

TEST_F(NominationsTest, ThePodThatNoLongerNeedsItIsNotTold) {
  nominations_.Nominate(Pod("p"), "a");
  nominations_.End(*Pod("p"));
  EXPECT_EQ(nominations_.NodeOf("p"), "");
  EXPECT_THAT(Told(), ElementsAre("5 but p"));
  nominations_.End(*Pod("p"));
  EXPECT_THAT(Told(), IsEmpty()) << "it has ended before";
}

TEST_F(NominationsTest, NobodyIsToldOfWhatIsTakenUntilItIsNotUsed) {
  bed_.AddNode("{metadata: {name: a}}");
  nominations_.Nominate(Pod("p"), "a");
  EXPECT_EQ(nominations_.Take("p"), "a");
  EXPECT_FALSE(IsShownAt("a"));
  EXPECT_THAT(Told(), IsEmpty());
  nominations_.TellFreed(*Pod("p"));
  EXPECT_THAT(Told(), ElementsAre("5 but p"));
  EXPECT_EQ(nominations_.Take("p"), "");
}

TEST_F(NominationsTest, APodWhosePromiseIsRevokedIsToldLikeAllOthers) {
  nominations_.Nominate(Pod("p"), "a");
  EXPECT_TRUE(nominations_.Revoke(*Pod("p")));
  EXPECT_THAT(Told(), ElementsAre("5"));
  EXPECT_FALSE(nominations_.Revoke(*Pod("p")));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(NominationsTest, NothingIsPromisedToAPodThatIsGone) {
  gone_ = {"p"};
  nominations_.Nominate(Pod("p"), "a");
  EXPECT_EQ(nominations_.NodeOf("p"), "");
  EXPECT_THAT(nominations_.On("a"), IsEmpty());
}

}  // namespace
}  // namespace koord::scheduler::nominations_test
