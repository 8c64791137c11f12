#include "scheduler/framework/hint_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "scheduler/cluster/ledger.h"

namespace koord::scheduler::hint_provider_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Has one resource on some NUMA nodes, and gives a device minor for each NUMA node it takes from.
class FakeProvider final : public HintProvider {
 public:
  FakeProvider(std::string resource, std::vector<model::NumaHint> hints)
      : resource_(std::move(resource)), hints_(std::move(hints)) {}

  std::string_view name() const override { return resource_; }
  std::unique_ptr<HintTrial> Try(const TrialQuestion& question) override {
    ++asked;
    if (!is_asked_for) return nullptr;
    seen_gone.clear();
    for (const PodInfo* pod : DeltaFor(question).removed) seen_gone.push_back(pod->uid());
    return std::make_unique<Trial>(*this);
  }

  bool is_asked_for = true;
  Verdict hints_verdict;
  Verdict allocate_verdict;
  int asked = 0;
  std::vector<std::string> seen_gone;

 private:
  class Trial final : public HintTrial {
   public:
    explicit Trial(const FakeProvider& of) : of_(of) {}
    Answer Hints(model::NumaPolicy, model::NumaMask) const override {
      return {of_.hints_verdict, {{of_.resource_, of_.hints_}}};
    }
    Verdict Allocate(const std::optional<model::NumaMask>& from, Holdings* into) const override {
      if (into != nullptr && of_.allocate_verdict.ok()) {
        for (int32_t node = 0; node < 2; ++node) {
          if (!from || from->Has(node)) into->devices.push_back({of_.resource_, node, {}, {}});
        }
      }
      return of_.allocate_verdict;
    }

   private:
    const FakeProvider& of_;
  };

  const std::string resource_;
  const std::vector<model::NumaHint> hints_;
};

class FakeAligner final : public NumaAligner {
 public:
  Terms TermsFor(const TrialQuestion&) override { return terms; }
  Terms terms{.verdict = {},
              .policy = model::NumaPolicy::kSingleNumaNode,
              .all = {0, 1},
              .exclusivity = {}};
};

class FakeRooms final : public ReservedRooms {
 public:
  Found RoomsFor(const PodShape&, NodeRow) override { return found; }
  Found found;
};

model::NumaHint Prefers(int32_t node, int64_t score = 0) {
  return {.mask = model::NumaMask{node}, .preferred = true, .score = score};
}

class HintProviderTest : public testing::Test {
 protected:
  HintProviderTest() {
    kube::Pod pod;
    pod.metadata.name = "p";
    shape_ = ledger_.shapes().Of(std::make_shared<const kube::Pod>(pod));
  }
  TrialQuestion Question(RoomSource source = {}) const {
    return {*shape_, {NodeRow(0), &delta_}, source};
  }
  static std::vector<std::pair<std::string, int32_t>> DevicesOf(const Holdings& held) {
    std::vector<std::pair<std::string, int32_t>> devices;
    for (const Holdings::Device& each : held.devices) devices.emplace_back(each.type, each.minor);
    return devices;
  }

  Ledger ledger_;
  ShapePtr shape_;
  RowDelta delta_;
  FakeProvider cpu_{"cpu", {Prefers(0, 20), Prefers(1, 60)}};
  FakeProvider gpu_{"gpu", {Prefers(0, 500), Prefers(1, 0)}};
  FakeAligner aligner_;
  FakeRooms rooms_;
  ProfileTrials trials_;
};

TEST_F(HintProviderTest, AllTakeFromTheNumaNodesThatTheyAgreeOn) {
  trials_.Join(gpu_);
  trials_.SetAligner(aligner_, cpu_);
  Holdings held;
  const auto agreement = trials_.Run(Question(), &held);
  EXPECT_TRUE(agreement.verdict.ok());
  EXPECT_TRUE(agreement.is_aligned);
  EXPECT_EQ(agreement.from, model::NumaMask{0});
  EXPECT_EQ(trials_.Agree(Question()).from, model::NumaMask{0});
  // The aligner's part comes first, whoever has joined before.
  EXPECT_THAT(DevicesOf(held), ElementsAre(std::pair("cpu", 0), std::pair("gpu", 0)));
}

TEST_F(HintProviderTest, WithoutPolicyEachTakesFromAnywhere) {
  trials_.Join(gpu_);
  Holdings held;
  EXPECT_TRUE(trials_.Run(Question(), &held).verdict.ok());
  EXPECT_THAT(DevicesOf(held), ElementsAre(std::pair("gpu", 0), std::pair("gpu", 1)));
  aligner_.terms.policy = model::NumaPolicy::kNone;
  trials_.SetAligner(aligner_, cpu_);
  const auto agreement = trials_.Run(Question());
  EXPECT_TRUE(agreement.verdict.ok());
  EXPECT_FALSE(agreement.is_aligned);
  EXPECT_EQ(agreement.from, std::nullopt);
}

TEST_F(HintProviderTest, WhoIsNotAskedForAnythingHasNoSay) {
  FakeProvider elsewhere("elsewhere", {Prefers(1)});
  trials_.SetAligner(aligner_, cpu_);
  trials_.Join(elsewhere);
  EXPECT_EQ(trials_.Agree(Question()).from, model::NumaMask{1});
  elsewhere.is_asked_for = false;
  trials_.Join(gpu_);
  EXPECT_EQ(trials_.Agree(Question()).from, model::NumaMask{0});
}

TEST_F(HintProviderTest, SaysWhyNobodyAgrees) {
  FakeProvider only_one("gpu", {Prefers(1)});
  FakeProvider only_zero("cpu", {Prefers(0)});
  trials_.SetAligner(aligner_, only_zero);
  trials_.Join(only_one);
  EXPECT_EQ(trials_.Run(Question()).verdict.Message(),
            "Unaligned NUMA Hint cause cpu prefer [01] among [01],gpu prefer [10] among [10]");
}

TEST_F(HintProviderTest, AllWhoCannotSayAreHeard) {
  cpu_.hints_verdict = Verdict::Unschedulable("node(s) Insufficient NUMA Node resources");
  gpu_.hints_verdict = Verdict::Unresolvable("no cards");
  trials_.SetAligner(aligner_, cpu_);
  trials_.Join(gpu_);
  const Verdict verdict = trials_.Run(Question()).verdict;
  EXPECT_EQ(verdict.code, Code::kUnschedulable);
  EXPECT_THAT(verdict.reasons, ElementsAre("node(s) Insufficient NUMA Node resources", "no cards"));
}

TEST_F(HintProviderTest, TheFirstWhoCannotGiveItsPartIsHeard) {
  gpu_.allocate_verdict = Verdict::Unresolvable("no cards");
  FakeProvider later("later", {Prefers(0)});
  later.allocate_verdict = Verdict::Unschedulable("nothing");
  trials_.SetAligner(aligner_, cpu_);
  trials_.Join(gpu_);
  trials_.Join(later);
  EXPECT_TRUE(trials_.Agree(Question()).verdict.ok());
  const Verdict verdict = trials_.Run(Question()).verdict;
  EXPECT_EQ(verdict.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_THAT(verdict.reasons, ElementsAre("no cards"));
}

TEST_F(HintProviderTest, WhatTheAlignerRefusesNobodyIsAskedAbout) {
  aligner_.terms.verdict = Verdict::Unresolvable("node(s) NUMA Topology policy not match");
  gpu_.allocate_verdict = Verdict::Unschedulable("no cards");
  trials_.SetAligner(aligner_, cpu_);
  trials_.Join(gpu_);
  EXPECT_EQ(trials_.Run(Question()).verdict.Message(), "node(s) NUMA Topology policy not match");
}

// ---- Reservations

PodInfo Reserving(std::string uid) {
  kube::Pod pod;
  pod.metadata.uid = uid;
  auto held = std::make_unique<Holdings>();
  held->reserves = Holdings::Reservation{uid, uid};
  PodInfo info;
  info.pod = std::make_shared<const kube::Pod>(pod);
  info.held = std::move(held);
  return info;
}

TEST_F(HintProviderTest, TheSourceSaysWhichReservationsAreSeen) {
  kube::Pod pod;
  pod.metadata.uid = "victim";
  PodInfo victim;
  victim.pod = std::make_shared<const kube::Pod>(pod);
  const PodInfo one = Reserving("one"), other = Reserving("other");
  delta_.removed = {&victim, &one, &other};
  trials_.Join(gpu_);
  trials_.Run(Question({.reserve_pod = &other}));
  EXPECT_THAT(gpu_.seen_gone, ElementsAre("victim", "other"));
  trials_.Run(Question());
  EXPECT_THAT(gpu_.seen_gone, ElementsAre("victim"));
  trials_.Run(Question({.is_everything = true}));
  EXPECT_THAT(gpu_.seen_gone, ElementsAre("victim", "one", "other"));
}

TEST_F(HintProviderTest, WhatIsFreeToAllComesLast) {
  auto found = trials_.SourcesFor(*shape_, NodeRow(0));
  EXPECT_EQ(found.sources.size(), 1u);
  EXPECT_FALSE(found.must_use_one);
  trials_.SetRooms(rooms_);
  const PodInfo one = Reserving("one"), other = Reserving("other");
  rooms_.found.sources = {{.reserve_pod = &one}, {.reserve_pod = &other, .is_restricted = true}};
  found = trials_.SourcesFor(*shape_, NodeRow(0));
  ASSERT_EQ(found.sources.size(), 4u);
  // At first with nothing but what is reserved.
  EXPECT_EQ(found.sources[0].reserve_pod, &one);
  EXPECT_TRUE(found.sources[0].is_restricted);
  EXPECT_EQ(found.sources[1].reserve_pod, &one);
  EXPECT_FALSE(found.sources[1].is_restricted);
  EXPECT_EQ(found.sources[2].reserve_pod, &other);
  EXPECT_EQ(found.sources[3].reserve_pod, nullptr);
  rooms_.found.must_use_one = true;
  EXPECT_EQ(trials_.SourcesFor(*shape_, NodeRow(0)).sources.size(), 3u);
  // Who ignores reservations does not try without that.
  rooms_.found = {.sources = {{.is_everything = true}}};
  EXPECT_EQ(trials_.SourcesFor(*shape_, NodeRow(0)).sources.size(), 1u);
}

TEST_F(HintProviderTest, AnAttemptDrawsFromItsReservationAndNoOther) {
  trials_.SetRooms(rooms_);
  trials_.Join(gpu_);
  const PodInfo one = Reserving("one"), other = Reserving("other");
  rooms_.found.sources = {{.reserve_pod = &one, .is_restricted = true},
                          {.reserve_pod = &other, .is_restricted = true}};
  Attempt attempt;
  attempt.shape = shape_;
  attempt.row = NodeRow(0);
  EXPECT_EQ(trials_.Settle(attempt).source.reserve_pod, nullptr);
  attempt.held = std::make_unique<Holdings>();
  attempt.held->draws_from = Holdings::Reservation{"other", "other"};
  EXPECT_EQ(trials_.Settle(attempt).source.reserve_pod, &other);
  EXPECT_THAT(gpu_.seen_gone, ElementsAre("other"));
  // Never from elsewhere instead.
  gpu_.allocate_verdict = Verdict::Unschedulable("no cards");
  const auto settled = trials_.Settle(attempt);
  EXPECT_EQ(settled.source.reserve_pod, &other);
  EXPECT_EQ(settled.agreement.verdict.Message(), "no cards");
}

}  // namespace
}  // namespace koord::scheduler::hint_provider_test
