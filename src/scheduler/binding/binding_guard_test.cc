#include "scheduler/binding/binding_guard.h"

#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::binding_guard_test {
namespace {

class BindingGuardTest : public ::testing::Test {
 protected:
  BindingGuardTest() {
    attempt_.pod = PodOf("{metadata: {name: p}, spec: {schedulerName: s}}");
    attempt_.profile = "s";
    Put(pending_, attempt_.pod);
  }
  // "": it may be bound.
  std::string Check(bool check_owner = true) const {
    return BindingGuard([this] { return leads_; }, check_owner, pending_).Check(attempt_).Message();
  }

  bool leads_ = true;
  PodSet pending_;
  Attempt attempt_;
};

TEST_F(BindingGuardTest, APodIsBoundAsLongAsNothingChanges) { EXPECT_EQ(Check(), ""); }

TEST_F(BindingGuardTest, OnlyALeaderBinds) {
  leads_ = false;
  EXPECT_EQ(Check(), "this instance does not lead any more");
  EXPECT_EQ(Check(/*check_owner=*/false), "this instance does not lead any more");
}

TEST_F(BindingGuardTest, APodThatIsGivenToAnotherSchedulerIsNotBoundIfThatIsLookedAt) {
  Put(pending_, PodOf("{metadata: {name: p}, spec: {schedulerName: other}}"));
  EXPECT_EQ(Check(), "schedulerName unmatched");
  EXPECT_EQ(Check(/*check_owner=*/false), "");
}

TEST_F(BindingGuardTest, APodThatIsBeingDeletedIsNotBound) {
  Put(pending_, PodOf("{metadata: {name: p, deletionTimestamp: '2026-01-01T00:00:00Z'}, "
                      "spec: {schedulerName: s}}"));
  EXPECT_EQ(Check(), "pod is being deleted");
}

TEST_F(BindingGuardTest, TheServerDecidesAboutAPodThatIsNotPendingAnyMore) {
  pending_.clear();
  EXPECT_EQ(Check(), "");
}

}  // namespace
}  // namespace koord::scheduler::binding_guard_test
