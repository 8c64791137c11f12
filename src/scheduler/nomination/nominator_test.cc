#include "scheduler/nomination/nominator.h"

#include <gmock/gmock.h>

#include "scheduler/queue/queue_testing.h"

namespace koord::scheduler::nominator_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NominatorTest : public ::testing::Test {
 protected:
  static Nominator::PodPtr PodOn(std::string_view name, std::string_view nominated) {
    auto pod = MakePod(name);
    pod->status.nominated_node_name = nominated;
    return pod;
  }
  std::vector<std::string> On(std::string_view node) {
    std::vector<std::string> names;
    for (const auto& pod : nominator_.On(node)) names.push_back(pod->metadata.name);
    return names;
  }
  std::vector<std::string> Changed() { return std::exchange(changed_, {}); }

  std::set<std::string> not_pending_;
  std::vector<std::string> changed_;
  Nominator nominator_{
      [this](const kube::Pod& pod) { return !not_pending_.contains(pod.metadata.name); },
      [this](std::string_view node) { changed_.emplace_back(node); }};
};

TEST_F(NominatorTest, FollowsTheStatus) {
  EXPECT_FALSE(nominator_.Add(PodOn("a", "n1")));
  EXPECT_FALSE(nominator_.Add(PodOn("b", "n1")));
  EXPECT_FALSE(nominator_.Add(PodOn("c", "")));
  EXPECT_THAT(On("n1"), ElementsAre("a", "b"));
  EXPECT_EQ(nominator_.NodeOf("a-uid"), "n1");
  EXPECT_EQ(nominator_.NodeOf("c-uid"), "");
  EXPECT_EQ(nominator_.size(), 2u);
}

TEST_F(NominatorTest, DecisionsOverrideTheStatus) {
  nominator_.Add(PodOn("a", "n1"));
  EXPECT_TRUE(nominator_.Nominate(PodOn("a", "n1"), "n2"));
  EXPECT_THAT(On("n1"), IsEmpty());
  EXPECT_THAT(On("n2"), ElementsAre("a"));
  EXPECT_TRUE(nominator_.Nominate(PodOn("a", "n1"), ""));
  EXPECT_EQ(nominator_.NodeOf("a-uid"), "");
  EXPECT_EQ(nominator_.size(), 0u);
}

TEST_F(NominatorTest, PodsThatAreGoneOrPlacedGetNoPromise) {
  nominator_.Add(PodOn("a", "n1"));
  not_pending_ = {"a", "b"};
  EXPECT_FALSE(nominator_.Nominate(PodOn("b", ""), "n1"));
  EXPECT_TRUE(nominator_.Nominate(PodOn("a", "n1"), "n1"));  // and lose what they had
  EXPECT_THAT(On("n1"), IsEmpty());
}

TEST_F(NominatorTest, UpdatesOfThePod) {
  struct Case {
    std::string_view what;
    std::string_view held;  // decided here
    std::string_view before;
    std::string_view after;
    std::string_view expected;
    bool moved_or_ended;
  };
  for (const Case& test : {Case{"not yet in the status", "n1", "", "", "n1", false},
                           {"reaches the status", "n1", "", "n1", "n1", false},
                           {"the status says otherwise", "n1", "n1", "n2", "n2", true},
                           {"taken back in the status", "n1", "n1", "", "", true},
                           {"a new one from outside", "", "", "n3", "n3", false},
                           {"none at all", "", "", "", "", false}}) {
    nominator_.Nominate(PodOn("a", test.before), test.held);
    EXPECT_EQ(nominator_.Update(*PodOn("a", test.before), PodOn("a", test.after)),
              test.moved_or_ended)
        << test.what;
    EXPECT_EQ(nominator_.NodeOf("a-uid"), test.expected) << test.what;
    nominator_.Remove("a-uid");
  }
}

TEST_F(NominatorTest, UpdatesKeepThePodCurrentAndInItsPlace) {
  nominator_.Add(PodOn("a", "n1"));
  nominator_.Add(PodOn("b", "n1"));
  Changed();
  const auto same = PodOn("a", "n1");
  nominator_.Update(*same, same);
  EXPECT_EQ(nominator_.On("n1")[0], same);
  EXPECT_THAT(Changed(), IsEmpty());  // its status is nobody's concern

  auto smaller = std::make_shared<kube::Pod>(*same);
  smaller->spec.containers.Mutable().emplace_back();
  const uint64_t version = nominator_.Version("n1");
  nominator_.Update(*same, smaller);
  EXPECT_THAT(On("n1"), ElementsAre("a", "b"));
  EXPECT_THAT(Changed(), ElementsAre("n1"));
  EXPECT_NE(nominator_.Version("n1"), version);
}

TEST_F(NominatorTest, RemovedPodsLeaveNothingBehind) {
  nominator_.Add(PodOn("a", "n1"));
  EXPECT_TRUE(nominator_.Remove("a-uid"));
  EXPECT_FALSE(nominator_.Remove("a-uid"));
  EXPECT_THAT(On("n1"), IsEmpty());
  EXPECT_EQ(nominator_.Version("n1"), 0u);
}

TEST_F(NominatorTest, TellsOfEveryNodeWhosePromisesChange) {
  EXPECT_EQ(nominator_.Version("n1"), 0u);
  nominator_.Add(PodOn("a", "n1"));
  EXPECT_THAT(Changed(), ElementsAre("n1"));
  const uint64_t with_a = nominator_.Version("n1");
  nominator_.Nominate(PodOn("a", "n1"), "n2");
  EXPECT_THAT(Changed(), ElementsAre("n1", "n2"));
  nominator_.Nominate(PodOn("b", ""), "n1");
  EXPECT_NE(nominator_.Version("n1"), with_a);  // not the same pod as before
  EXPECT_THAT(Changed(), ElementsAre("n1"));
  nominator_.Remove("a-uid");
  EXPECT_THAT(Changed(), ElementsAre("n2"));
}

}  // namespace
}  // namespace koord::scheduler::nominator_test
