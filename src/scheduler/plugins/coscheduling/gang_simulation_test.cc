// Gangs come, change and go at random while bindings fail and schedulers take over from each other.
// Whatever the seed: a gang is bound as a whole or not at all, nobody holds what he cannot use, and
// whoever fits is placed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "base/sanitizer.h"
#include "scheduler/plugins/coscheduling/gang_bed_testing.h"

namespace koord::scheduler::gang_simulation_test {
namespace {

using namespace std::chrono_literals;
using State = GangBook::State;

constexpr int kSeeds = TestRounds(200);
constexpr int kSteps = 60;

class World : public GangBed {
 public:
  explicit World(uint64_t seed) : random_(seed) {
    Restart();
    bindings_.on_bind = [this](const Attempt& attempt) { return OnBind(attempt); };
    AddNode("n0", 4);
  }

  void Step() {
    switch (random_.Below(12)) {
      case 0:
      case 1:
        return PlanGangs();
      case 2:
        return Create(fmt::format("plain-{}", next_++), {});
      case 3:
        return DeleteAny();
      case 4:
        if (random_.Below(3) == 0) AddNode(fmt::format("n{}", next_++), 1 + Below(3));
        return;
      case 5:
        return OpenAny();
      case 6:
        if (random_.Below(4) == 0) TakeOver();
        return;
      case 7:
        loop_.Advance(std::chrono::seconds(Below(20)));
        return;
      default:
        return Arrive();
    }
  }

  void Finish() {
    fails_ = false;
    while (!planned_.empty()) Arrive();
  }

  // After everything that has happened was shown and time has passed.
  void CheckQuiet() {
    fails_ = false;
    Settle();
    loop_.Advance(2min);
    Settle();
    EXPECT_EQ(scheduler_->ledger().assumed(), 0u) << "holds what it has not bound";
    EXPECT_EQ(scheduler_->waiting(), 0u);
    EXPECT_EQ(scheduler_->queue().rescued(), 0u);
    CheckMembers();
    CheckWhole();
    CheckNobodyIsForgotten();
    fails_ = true;
  }
  void Settle() { Bound(); }

 private:
  struct Gang {
    std::vector<std::string> group;  // ids
    size_t min = 0;
    std::string policy;
    std::set<std::string> bound;  // names of pods that ever were
    bool lost_any = false;        // a member was deleted
    bool let_go = false;          // one of its group was sent to be bound
  };

  int Below(uint64_t n) { return static_cast<int>(random_.Below(n)); }
  size_t FreeSlots() {
    size_t free = 0;
    for (const auto& [name, node] : nodes_) {
      free += static_cast<size_t>(node->status.allocatable.at("cpu").Value());
    }
    for (const auto& [name, pod] : pods_) free -= pod->spec.node_name.empty() ? 0 : 1;
    return free;
  }

  // Gangs of which the pods will come one by one.
  void PlanGangs() {
    const int gangs = random_.Below(4) == 0 ? 2 : 1;
    std::vector<std::string> names, ids, quoted;
    for (int i = 0; i < gangs; ++i) {
      names.push_back(fmt::format("g{}", next_++));
      ids.push_back("a/" + names.back());
      quoted.push_back("\"" + ids.back() + "\"");
    }
    constexpr std::string_view kPolicies[] = {"only-waiting", "waiting-and-running",
                                              "once-satisfied"};
    const std::string policy(kPolicies[random_.Below(3)]);
    const std::string mode = random_.Below(4) == 0 ? "NonStrict" : "Strict";
    for (const std::string& name : names) {
      const int size = 1 + Below(5);
      const int min = 1 + Below(static_cast<uint64_t>(size));
      gangs_["a/" + name] = {.group = ids, .min = static_cast<size_t>(min), .policy = policy};
      for (int i = 0; i < size; ++i) {
        planned_.push_back(MakePod(
            fmt::format("{}-{}", name, i),
            {.gang = fmt::format("name: {}; min-available: '{}'; match-policy: {}; mode: {}; "
                                 "groups: '[{}]'",
                                 name, min, policy, mode, Join(quoted, ",")),
             .spec = random_.Below(10) == 0 ? "schedulingGates: [{name: x}]," : ""}));
      }
    }
  }
  void Arrive() {
    if (planned_.empty()) return;
    const size_t at = random_.Below(planned_.size());
    Show(planned_[at]);
    planned_.erase(planned_.begin() + static_cast<ptrdiff_t>(at));
  }
  void DeleteAny() {
    if (pods_.empty()) return;
    auto at = pods_.begin();
    std::advance(at, random_.Below(pods_.size()));
    const auto gang = gangs_.find(model::GangIdOf(*at->second));
    if (gang != gangs_.end()) gang->second.lost_any = true;
    Delete(std::string(at->first));
  }
  void OpenAny() {
    for (const auto& [name, pod] : std::map(pods_)) {
      if (pod->spec.scheduling_gates.empty() || random_.Below(2) == 0) continue;
      auto opened = *pod;
      opened.spec.scheduling_gates = {};
      Show(std::make_shared<const kube::Pod>(std::move(opened)));
    }
  }
  // What was bound and not shown to the one before is shown to the next.
  void TakeOver() {
    loop_.RunReady(random_.Below(20));
    ShowBound(std::exchange(bindings_.pods, {}));
    // The next one knows only of what was bound.
    for (auto& [id, gang] : gangs_) {
      gang.let_go = std::ranges::any_of(
          gang.group, [&](const std::string& other) { return !gangs_[other].bound.empty(); });
    }
    Restart();
  }

  bool OnBind(const Attempt& attempt) {
    const bool succeeds = !fails_ || random_.Below(8) != 0;
    const auto found = gangs_.find(model::GangIdOf(*attempt.pod));
    if (found == gangs_.end()) return succeeds;
    Gang& gang = found->second;
    if (!gang.let_go) CheckEnoughHaveNodes(gang, attempt.pod->metadata.name);
    for (const std::string& id : gang.group) gangs_[id].let_go = true;
    if (succeeds) gang.bound.insert(attempt.pod->metadata.name);
    return succeeds;
  }
  // A gang binds none, or at least its minimum.
  void CheckEnoughHaveNodes(const Gang& gang, const std::string& first) {
    for (const std::string& id : gang.group) {
      size_t have = 0;
      for (const auto& [name, pod] : pods_) {
        if (model::GangIdOf(*pod) != id) continue;
        have += scheduler_->ledger().Find(pod->metadata.uid) != nullptr ? 1 : 0;
      }
      if (gangs_[id].lost_any) continue;
      EXPECT_GE(have, gangs_[id].min) << first << " is bound before " << id << " is complete";
    }
  }

  void CheckMembers() {
    const GangBook& book = *scheduler_->books().gangs;
    size_t members = 0;
    for (const auto& [name, pod] : pods_) {
      if (model::GangIdOf(*pod).empty()) continue;
      ++members;
      const GangBook::Member* member = book.Find(pod->metadata.uid);
      ASSERT_NE(member, nullptr) << name;
      EXPECT_EQ(member->state, pod->spec.node_name.empty() ? State::kPending : State::kBound)
          << name;
    }
    EXPECT_EQ(book.members(), members) << "knows members that are gone";
    EXPECT_EQ(book.round(), nullptr) << "a round has not ended";
  }
  void CheckWhole() {
    for (const auto& [id, gang] : gangs_) {
      if (gang.bound.empty() || gang.lost_any) continue;
      EXPECT_GE(gang.bound.size(), gang.min) << id << " is bound in part";
    }
  }
  void CheckNobodyIsForgotten() {
    const size_t free = FreeSlots();
    const GangBook& book = *scheduler_->books().gangs;
    for (const auto& [name, pod] : pods_) {
      if (!pod->spec.node_name.empty() || !pod->spec.scheduling_gates.empty()) continue;
      const GangBook::Member* member = book.Find(pod->metadata.uid);
      if (member == nullptr || book.GoesAlone(*member)) {
        EXPECT_EQ(free, 0u) << name << " fits";
      } else if (book.WhyIncomplete(*member->gang->group).empty()) {
        EXPECT_FALSE(Fits(*member->gang->group, free))
            << name << " waits, though its group fits into " << free << ": " << MessageOf(name);
      }
    }
  }
  // All pods are of one size: whether a group fits is a matter of counting.
  bool Fits(const GangBook::Group& group, size_t free) {
    size_t needed = 0;
    const GangBook& book = *scheduler_->books().gangs;
    for (const GangBook::Gang* gang : book.GangsOf(group)) {
      const auto min = static_cast<size_t>(gang->spec->min);
      const bool bound_count = gang->spec->policy == model::GangMatchPolicy::kWaitingAndRunning;
      const size_t there = bound_count ? gang->in(State::kBound).size() : 0;
      size_t can_be_tried = 0;
      for (const std::string& uid : gang->in(State::kPending)) {
        can_be_tried += book.WhyNotTried(*book.Find(uid)).empty() ? 1 : 0;
      }
      if (there + can_be_tried < min) return false;
      needed += min > there ? min - there : 0;
    }
    return std::max<size_t>(needed, 1) <= free;
  }

  Random random_;
  int next_ = 1;
  bool fails_ = true;
  std::vector<PodPtr> planned_;
  std::map<std::string, Gang> gangs_;  // by id
};

class GangSimulation : public ::testing::TestWithParam<uint64_t> {};

TEST_P(GangSimulation, HoldsItsPromises) {
  World world(GetParam());
  for (int i = 0; i < kSteps && !HasFailure(); ++i) {
    world.Step();
    if (i % 3 == 0) world.Settle();
    if (i % 10 == 9) world.CheckQuiet();
  }
  world.Finish();
  world.CheckQuiet();
  world.AddNode("room-for-all", 1000);
  world.CheckQuiet();
}

INSTANTIATE_TEST_SUITE_P(Seeds, GangSimulation, ::testing::Range<uint64_t>(1, kSeeds + 1),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace koord::scheduler::gang_simulation_test
