#include "scheduler/gangs/gang_book.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/testing/idle_handle.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::gang_book_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using State = GangBook::State;

// Notes who is brought back to the queue.
struct Handle final : IdleHandle {
  void Activate(const std::vector<kube::ObjectKey>& pods) override {
    for (const kube::ObjectKey& pod : pods) activated.push_back(pod.name);
  }
  std::vector<std::string> activated;
};

class GangBookTest : public testing::Test {
 protected:
  GangBookTest() {
    bed_.context.handle = &handle_;
    bed_.context.pending = &pending_;
    bed_.context.profile = "s";
    bed_.AddNode("{metadata: {name: n}}");
    book_ = &GangBook::Of(bed_.context, {});
  }

  using PodPtr = std::shared_ptr<const kube::Pod>;
  // A member of a gang that its annotations define: "name: g, min-available: '3'".
  PodPtr Pod(std::string_view name, std::string_view gang, std::string_view spec = "") {
    std::string annotations;
    for (std::string_view pair : Split(gang, ';')) {
      annotations += fmt::format("gang.scheduling.koordinator.sh/{}, ", Trim(pair));
    }
    return PodOf(
        fmt::format("{{metadata: {{name: {}, namespace: a, annotations: {{{}}}}}, spec: "
                    "{{schedulerName: s, {}}}}}",
                    name, annotations, spec));
  }
  PodPtr OfPodGroup(std::string_view name, std::string_view group) {
    return PodOf(
        fmt::format("{{metadata: {{name: {}, namespace: a, labels: "
                    "{{pod-group.scheduling.sigs.k8s.io: {}}}}}, spec: "
                    "{{schedulerName: s}}}}",
                    name, group));
  }
  void AddPodGroup(std::string_view name, int min, std::string_view annotations = "") {
    bed_.objects.pod_groups.Set(FromYaml<api::PodGroup>(
        fmt::format("{{metadata: {{name: {}, namespace: a, annotations: {{{}}}}}, spec: "
                    "{{minMember: {}}}}}",
                    name, annotations, min)));
  }
  void Arrive(const PodPtr& pod) { pending_.Set(pod); }
  // As a watch shows a pod that somebody has bound.
  void ShowBound(const PodPtr& pod, std::string_view annotations = "") {
    auto bound = *pod;
    bound.spec.node_name = "n";
    if (!annotations.empty()) {
      bound.metadata.annotations["internal.scheduling.koordinator.sh/bind-gang-group-id"] =
          book_->Find(pod->metadata.uid)->gang->group->id;
      bound.metadata.annotations["internal.scheduling.koordinator.sh/bind-gang-member-count"] =
          annotations;
    }
    const auto shown = std::make_shared<const kube::Pod>(std::move(bound));
    pending_.SetBound(shown, false);
    bed_.ledger.SetPod(shown);
  }
  const GangBook::Gang& Gang(std::string_view id) { return *book_->FindGang(id); }
  GangBook::Group& Group(std::string_view id) { return *book_->FindGroup(id); }
  std::vector<std::string> Activated() { return std::exchange(handle_.activated, {}); }

  PluginBed bed_;
  PendingPods pending_;
  Handle handle_;
  GangBook* book_;
};

TEST_F(GangBookTest, AGangIsWhatItsFirstPodWithALegalMinimumSays) {
  Arrive(Pod("p1", "name: g; min-available: abc"));
  EXPECT_FALSE(Gang("a/g").spec);
  EXPECT_EQ(Gang("a/g").children(), 1u);
  EXPECT_EQ(Gang("a/g").problem,
            "pod a/p1: gang.scheduling.koordinator.sh/min-available: \"abc\" is not a number of "
            "pods");
  Arrive(Pod("p2", "name: g; min-available: '3'; mode: NonStrict"));
  Arrive(Pod("p3", "name: g; min-available: '5'"));
  ASSERT_TRUE(Gang("a/g").spec);
  EXPECT_EQ(Gang("a/g").spec->min, 3);
  EXPECT_EQ(Gang("a/g").spec->mode, model::GangMode::kNonStrict);
  EXPECT_EQ(Gang("a/g").children(), 3u);
}

TEST_F(GangBookTest, AGangIsForgottenWithItsLastPod) {
  const auto pod = Pod("p1", "name: g; min-available: '1'");
  Arrive(pod);
  pending_.Remove("p1");
  EXPECT_EQ(book_->FindGang("a/g"), nullptr);
  EXPECT_EQ(book_->groups(), 0u);
  EXPECT_EQ(book_->members(), 0u);
}

TEST_F(GangBookTest, WhoIsLabelledForAPodGroupWaitsForIt) {
  Arrive(OfPodGroup("p1", "g"));
  EXPECT_FALSE(Gang("a/g").spec);
  EXPECT_EQ(book_->WhyIncomplete(Group("a/g")),
            "gangGroup [a/g] basic check: memberGangs [a/g] has not init");
  AddPodGroup("g", 2);
  EXPECT_EQ(Gang("a/g").spec->min, 2);
  EXPECT_EQ(book_->WhyIncomplete(Group("a/g")),
            "gangGroup [a/g] basic check: memberGangs [a/g] child pod not collect enough");
  EXPECT_THAT(Activated(), IsEmpty());
  AddPodGroup("g", 1);
  EXPECT_EQ(book_->WhyIncomplete(Group("a/g")), "");
  EXPECT_THAT(Activated(), ElementsAre("p1"));
  bed_.objects.pod_groups.Remove({"a", "g"});
  EXPECT_FALSE(Gang("a/g").spec) << "its pods alone do not say what it is";
  pending_.Remove("p1");
  EXPECT_EQ(book_->FindGang("a/g"), nullptr);
}

TEST_F(GangBookTest, AGroupIsCompleteWhenEachOfItsGangsIs) {
  const std::string_view groups = "groups: '[\"a/g\",\"a/h\"]'";
  Arrive(Pod("g1", fmt::format("name: g; min-available: '1'; {}", groups)));
  EXPECT_EQ(book_->WhyIncomplete(Group("a/g,a/h")),
            "gangGroup [a/g a/h] basic check: memberGangs [a/h] doesn't exists");
  Arrive(Pod("h1", "name: h"));
  EXPECT_EQ(book_->WhyIncomplete(Group("a/g,a/h")),
            "gangGroup [a/g a/h] basic check: memberGangs [a/h] has not init");
  Arrive(Pod("h2", fmt::format("name: h; min-available: '3'; {}", groups)));
  EXPECT_EQ(book_->WhyIncomplete(Group("a/g,a/h")),
            "gangGroup [a/g a/h] basic check: memberGangs [a/g a/h] child pod not collect enough");
  Arrive(Pod("h3", fmt::format("name: h; min-available: '3'; {}", groups)));
  EXPECT_EQ(book_->WhyIncomplete(Group("a/g,a/h")), "");
}

// Whoever names other people's gangs must not get a hold on their pods.
TEST_F(GangBookTest, AGangThatDoesNotListTheGroupIsNotPartOfIt) {
  Arrive(Pod("v", "name: victim; min-available: '1'"));
  Arrive(Pod("e", "name: evil; min-available: '1'; groups: '[\"a/evil\",\"a/victim\"]'"));
  EXPECT_EQ(book_->WhyIncomplete(Group("a/evil,a/victim")),
            "gangGroup [a/evil a/victim] basic check: memberGangs [a/victim] doesn't list this "
            "gangGroup");
  EXPECT_EQ(Gang("a/victim").group, &Group("a/victim"));
  ASSERT_EQ(book_->GangsOf(Group("a/evil,a/victim")).size(), 1u);
  book_->SetWaiting("v");
  EXPECT_TRUE(book_->IsSatisfied(Group("a/victim")));
  EXPECT_FALSE(book_->IsSatisfied(Group("a/evil,a/victim")));
}

TEST_F(GangBookTest, MatchPoliciesCountThoseThatWaitOrAreBound) {
  struct Case {
    int bound;
    std::string_view policy;
    bool satisfied;
  };
  for (const Case& each : {Case{3, "only-waiting", false}, Case{3, "waiting-and-running", true},
                           Case{3, "once-satisfied", true}, Case{2, "waiting-and-running", false},
                           Case{2, "once-satisfied", true}, Case{0, "once-satisfied", false}}) {
    const std::string gang = fmt::format("g-{}-{}", each.bound, each.policy);
    std::vector<PodPtr> pods;
    for (int i = 0; i < 5; ++i) {
      pods.push_back(
          Pod(fmt::format("{}-{}", gang, i),
              fmt::format("name: {}; min-available: '5'; match-policy: {}", gang, each.policy)));
      Arrive(pods.back());
    }
    for (int i = 0; i < each.bound; ++i) ShowBound(pods[i]);
    book_->SetWaiting(pods[3]->metadata.uid);
    book_->SetWaiting(pods[4]->metadata.uid);
    EXPECT_EQ(book_->IsSatisfied(Group("a/" + gang)), each.satisfied) << gang;
  }
}

TEST_F(GangBookTest, AGroupNeedsEachOfItsGangs) {
  const std::string_view groups = "groups: '[\"a/g1\",\"a/g2\"]'";
  Arrive(Pod("p", fmt::format("name: g1; min-available: '1'; {}", groups)));
  for (const char* name : {"q", "r"}) {
    Arrive(Pod(name, fmt::format("name: g2; min-available: '2'; {}", groups)));
  }
  book_->SetWaiting("p");
  book_->SetWaiting("q");
  EXPECT_FALSE(book_->IsSatisfied(Group("a/g1,a/g2")));
  book_->SetWaiting("r");
  EXPECT_TRUE(book_->IsSatisfied(Group("a/g1,a/g2")));
}

TEST_F(GangBookTest, WhoIsSentBackNoLongerWaits) {
  Arrive(Pod("p", "name: g; min-available: '2'"));
  Arrive(Pod("q", "name: g; min-available: '2'"));
  book_->SetWaiting("p");
  book_->SetSentBack("p");
  book_->SetWaiting("q");
  EXPECT_FALSE(book_->IsSatisfied(Group("a/g")));
  EXPECT_EQ(book_->WaitingIn(Group("a/g")), 1u);
  book_->SetPending("p");
  book_->SetWaiting("p");
  EXPECT_TRUE(book_->IsSatisfied(Group("a/g")));
}

TEST_F(GangBookTest, OnceAPodIsBoundTheOthersAreBroughtBackOneAndAll) {
  const auto first = Pod("p1", "name: g; min-available: '3'");
  for (const auto& pod : {first, Pod("p2", "name: g"), Pod("p3", "name: g")}) Arrive(pod);
  EXPECT_FALSE(book_->GoesAlone(*book_->Find("p2")));
  Activated();
  ShowBound(first);
  EXPECT_TRUE(book_->GoesAlone(*book_->Find("p2")));
  EXPECT_THAT(Activated(), ElementsAre("p2", "p3"));
}

// The process before this one was stopped in the middle of binding four.
TEST_F(GangBookTest, WhatBoundPodsSayOfTheirCompanyLetsTheRestOfItGo) {
  std::vector<PodPtr> pods;
  for (int i = 0; i < 5; ++i) {
    pods.push_back(
        Pod(fmt::format("p{}", i), "name: g; min-available: '4'; match-policy: only-waiting"));
    Arrive(pods.back());
  }
  ShowBound(pods[0], "4");
  EXPECT_TRUE(book_->GoesAlone(*book_->Find("p3")));
  for (int i = 1; i < 4; ++i) ShowBound(pods[i], "4");
  EXPECT_FALSE(book_->GoesAlone(*book_->Find("p4"))) << "all four are bound";
}

TEST_F(GangBookTest, AMemberThatOthersHoldBackDoesNotStandForItsGroup) {
  Arrive(Pod("p1", "name: g; min-available: '2'"));
  EXPECT_THAT(Activated(), IsEmpty());
  Arrive(Pod("p2", "name: g", "schedulingGates: [{name: x}]"));
  EXPECT_THAT(Activated(), ElementsAre("p1"));
  EXPECT_EQ(book_->WhyNotTried(*book_->Find("p2")), "is held by its schedulingGates");
}

TEST_F(GangBookTest, WhenARepresentativeIsGoneAnotherStandsForTheGroup) {
  for (const char* name : {"p1", "p2", "p3"}) Arrive(Pod(name, "name: g; min-available: '2'"));
  Group("a/g").representative = "p1";
  Activated();
  pending_.Remove("p1");
  EXPECT_EQ(Group("a/g").representative, "");
  EXPECT_THAT(Activated(), ElementsAre("p2"));
}

TEST_F(GangBookTest, AMemberThatIsBeingDeletedIsNoLongerOne) {
  for (const char* name : {"p1", "p2"}) Arrive(Pod(name, "name: g; min-available: '2'"));
  auto leaving = *Pod("p2", "name: g; min-available: '2'");
  leaving.metadata.deletion_timestamp = WallTime();
  Arrive(std::make_shared<const kube::Pod>(leaving));
  EXPECT_EQ(Gang("a/g").children(), 1u);
}

}  // namespace
}  // namespace koord::scheduler::gang_book_test
