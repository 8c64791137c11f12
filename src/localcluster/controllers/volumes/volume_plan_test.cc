#include "localcluster/controllers/volumes/volume_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/controller/plan_testing.h"
#include "kube/objects/objects_testing.h"

namespace koord::localcluster::volume_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kSetPhase[] = "patch persistentvolumes/status pv";

kube::PersistentVolume Volume(std::string phase, std::string claim_uid,
                              std::string policy = "Retain") {
  kube::PersistentVolume volume;
  volume.metadata.name = "pv";
  volume.metadata.uid = "uid-pv";
  volume.spec.reclaim_policy = std::move(policy);
  volume.spec.claim_ref = {{.ns = "default", .name = "data", .uid = std::move(claim_uid)}};
  volume.status.phase = std::move(phase);
  return volume;
}

ClaimPtr Claim(std::string uid, std::string volume) {
  kube::PersistentVolumeClaim claim;
  claim.metadata.ns = "default";
  claim.metadata.name = "data";
  claim.metadata.uid = std::move(uid);
  claim.spec.volume_name = std::move(volume);
  return SharedOf(claim);
}

kube::Plan PlanOf(const VolumeInput& input) {
  kube::Plan plan;
  PlanVolume(input, plan);
  return plan;
}

std::string_view PhaseIn(const kube::Plan& plan) {
  return plan.writes.empty() ? "" : kube::FindString(plan.writes[0].body, {"status", "phase"});
}

TEST(VolumePlan, PhaseFollowsTheClaim) {
  kube::PersistentVolume fresh = Volume("Pending", "");
  EXPECT_EQ(PhaseIn(PlanOf({.volume = fresh})), "Available") << "reserved by name";
  fresh.spec.claim_ref.reset();
  EXPECT_EQ(PhaseIn(PlanOf({.volume = fresh})), "Available");
  const kube::PersistentVolume held = Volume("Available", "u1");
  EXPECT_THAT(StepsOf(PlanOf({.volume = held, .claim = Claim("u1", "")})), IsEmpty())
      << "the claim has not accepted it yet";
  EXPECT_EQ(PhaseIn(PlanOf({.volume = held, .claim = Claim("u1", "pv")})), "Bound");
  const kube::PersistentVolume bound = Volume("Bound", "u1");
  EXPECT_THAT(StepsOf(PlanOf({.volume = bound, .claim = Claim("u1", "pv")})), IsEmpty());
}

TEST(VolumePlan, AClaimThatIsNotKnownMayStillExist) {
  const kube::PersistentVolume volume = Volume("Bound", "u1", "Delete");
  for (const ClaimPtr& claim : {ClaimPtr(), Claim("u2", "")}) {
    EXPECT_TRUE(NeedsToKnowTheClaim({.volume = volume, .claim = claim}));
    EXPECT_THAT(StepsOf(PlanOf({.volume = volume, .claim = claim})), IsEmpty());
    EXPECT_FALSE(NeedsToKnowTheClaim({.volume = volume, .claim = claim, .claim_gone = true}));
    EXPECT_THAT(StepsOf(PlanOf({.volume = volume, .claim = claim, .claim_gone = true})),
                ElementsAre(kSetPhase, "delete persistentvolumes pv"));
  }
}

TEST(VolumePlan, ReleasedVolumesAreReclaimed) {
  const auto released = [](std::string_view phase, std::string_view policy) {
    const auto volume = Volume(std::string(phase), "u1", std::string(policy));
    return PlanOf({.volume = volume, .claim_gone = true});
  };
  EXPECT_EQ(PhaseIn(released("Bound", "Retain")), "Released");
  EXPECT_THAT(StepsOf(released("Released", "Retain")), IsEmpty());
  EXPECT_THAT(StepsOf(released("Bound", "Delete")),
              ElementsAre(kSetPhase, "delete persistentvolumes pv"));
  EXPECT_EQ(released("Released", "Delete").writes.at(0).options.uid, "uid-pv");
  EXPECT_THAT(StepsOf(released("Bound", "Recycle")), ElementsAre(kSetPhase));
  EXPECT_THAT(StepsOf(released("Released", "Recycle")), ElementsAre("patch persistentvolumes pv"));
}

TEST(VolumePlan, VolumesThatTheClaimDidNotTakeAreFree) {
  kube::PersistentVolume volume = Volume("Available", "u1");
  const ClaimPtr elsewhere = Claim("u1", "another");
  kube::Plan plan = PlanOf({.volume = volume, .claim = elsewhere});
  EXPECT_EQ(kube::Serialize(*kube::Find(plan.writes.at(0).body, {"spec"})),
            R"({"claimRef":{"uid":null,"resourceVersion":null}})")
      << "a person has reserved it for this name";
  volume.metadata.annotations["pv.kubernetes.io/bound-by-controller"] = "yes";
  plan = PlanOf({.volume = volume, .claim = elsewhere});
  EXPECT_EQ(kube::Serialize(*kube::Find(plan.writes.at(0).body, {"spec"})), R"({"claimRef":null})");
  volume.metadata.annotations["pv.kubernetes.io/provisioned-by"] = "disk";
  volume.spec.reclaim_policy = "Delete";
  plan = PlanOf({.volume = volume, .claim = elsewhere});
  EXPECT_THAT(StepsOf(plan), ElementsAre("delete persistentvolumes pv"));
}

}  // namespace
}  // namespace koord::localcluster::volume_plan_test
