#include "model/gang/pod_group_status.h"

#include <gtest/gtest.h>

namespace koord::model::pod_group_status_test {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow{std::chrono::hours(1000)};

api::PodGroup GroupIn(std::string_view phase) {
  api::PodGroup group;
  group.metadata.ns = "a";
  group.metadata.name = "g";
  group.spec.min_member = 3;
  group.status.phase = phase;
  return group;
}

std::string PhaseAfter(std::string_view phase, const PodGroupMembers& members) {
  return NextPodGroupStatus(GroupIn(phase), members, kNow).phase;
}

TEST(PodGroupStatusTest, PhasesFollowTheMembers) {
  EXPECT_EQ(PhaseAfter("", {.pods = 3}), "Pending") << "one step at a time";
  EXPECT_EQ(PhaseAfter("Pending", {.pods = 2}), "Pending");
  EXPECT_EQ(PhaseAfter("Pending", {.pods = 3}), "PreScheduling");
  EXPECT_EQ(PhaseAfter("PreScheduling", {.pods = 3, .bound = 2}), "Scheduling");
  EXPECT_EQ(PhaseAfter("Scheduling", {.pods = 3, .bound = 3}), "Scheduled");
  EXPECT_EQ(PhaseAfter("Scheduled", {.pods = 3, .bound = 3, .running = 2, .succeeded = 1}),
            "Running");
  EXPECT_EQ(PhaseAfter("Running", {.pods = 3, .bound = 3, .running = 2, .failed = 1}), "Failed");
  EXPECT_EQ(PhaseAfter("Running", {.pods = 3, .bound = 3, .succeeded = 3}), "Finished");
  EXPECT_EQ(PhaseAfter("Running", {.pods = 4, .bound = 4, .succeeded = 3, .failed = 1}), "Finished")
      << "enough have done their work";
  EXPECT_EQ(PhaseAfter("Running", {}), "Pending");
}

TEST(PodGroupStatusTest, CountsAndTheBeginAreKept) {
  const PodGroupMembers members{.pods = 3, .bound = 2, .running = 1};
  api::PodGroup group = GroupIn("PreScheduling");
  group.status = NextPodGroupStatus(group, members, kNow);
  EXPECT_EQ(group.status.scheduled, 2);
  EXPECT_EQ(group.status.running, 1);
  EXPECT_EQ(group.status.schedule_start_time, kNow);
  EXPECT_EQ(NextPodGroupStatus(group, members, kNow + 1h), group.status) << "nothing has changed";
}

TEST(PodGroupStatusTest, TheOwnersOfTheFirstPodOccupyIt) {
  PodGroupMembers members{.pods = 3};
  members.owners.resize(2);
  members.owners[0].name = "z";
  members.owners[1].name = "job";
  EXPECT_EQ(NextPodGroupStatus(GroupIn("Pending"), members, kNow).occupied_by, "a/job,a/z");
}

TEST(PodGroupStatusTest, WhatHasEndedOrWasPlacedTooLateIsLeftAlone) {
  EXPECT_TRUE(IsPodGroupSettled(GroupIn("Finished")));
  EXPECT_TRUE(IsPodGroupSettled(GroupIn("Failed")));
  api::PodGroup late = GroupIn("Scheduled");
  late.metadata.creation_timestamp = kNow;
  late.status.scheduled = 3;
  late.status.schedule_start_time = kNow + 48h;
  EXPECT_FALSE(IsPodGroupSettled(late));
  late.status.schedule_start_time = kNow + 48h + 1s;
  EXPECT_TRUE(IsPodGroupSettled(late));
  late.status.running = 1;
  EXPECT_FALSE(IsPodGroupSettled(late));
}

}  // namespace
}  // namespace koord::model::pod_group_status_test
