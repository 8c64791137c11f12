#include "localcluster/controllers/volumes/claim_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/controller/plan_testing.h"
#include "kube/objects/objects_testing.h"
#include "kube/yaml.h"

namespace koord::localcluster::claim_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <class T>
T FromYaml(std::string_view text) {
  const auto json = kube::ParseYaml(text);
  EXPECT_TRUE(json.ok()) << Message(json.status()) << " in " << text;
  return kube::FromText<T>(kube::Serialize(*json));
}

kube::PersistentVolumeClaim Claim(std::string_view spec, std::string_view annotations = "",
                                  std::string_view status = "phase: Pending") {
  return FromYaml<kube::PersistentVolumeClaim>(
      fmt::format("{{metadata: {{name: data, namespace: default, uid: u1, resourceVersion: '7', "
                  "annotations: {{{}}}}}, spec: {{accessModes: [ReadWriteOnce], resources: "
                  "{{requests: {{storage: 10Gi}}}}, {}}}, status: {{{}}}}}",
                  annotations, spec, status));
}

VolumePtr Volume(std::string_view name, std::string_view size, std::string_view spec,
                 std::string_view labels = "", std::string_view access = "ReadWriteOnce") {
  return SharedOf(FromYaml<kube::PersistentVolume>(
      fmt::format("{{metadata: {{name: {}, uid: uid-{}, resourceVersion: '3', labels: {{{}}}}}, "
                  "spec: {{accessModes: [{}], capacity: {{storage: {}}}, {}}}, "
                  "status: {{phase: Available}}}}",
                  name, name, labels, access, size, spec)));
}

StorageClassPtr Class(std::string_view name, std::string_view provisioner, std::string_view mode) {
  return SharedOf(FromYaml<kube::StorageClass>(
      fmt::format("{{metadata: {{name: {}}}, provisioner: {}, reclaimPolicy: Delete, "
                  "volumeBindingMode: {}}}",
                  name, provisioner, mode)));
}

kube::Plan PlanOf(const ClaimInput& input) {
  kube::Plan plan;
  PlanClaim(input, plan);
  return plan;
}

const StorageClassPtr kLocal = Class("local", "kubernetes.io/no-provisioner", "Immediate");
const StorageClassPtr kLater = Class("later", "disk.example.com", "WaitForFirstConsumer");
const StorageClassPtr kNow = Class("now", "disk.example.com", "Immediate");
constexpr std::string_view kBound = "pv.kubernetes.io/bind-completed: 'yes'";
constexpr std::string_view kOnNode = "volume.kubernetes.io/selected-node: n1";

TEST(ClaimPlan, BindingGoesInSteps) {
  auto claim = Claim("storageClassName: local");
  auto volume = *Volume("pv", "20Gi", "storageClassName: local");
  kube::Plan plan =
      PlanOf({.claim = claim, .unclaimed = {SharedOf(volume)}, .storage_class = kLocal});
  ASSERT_THAT(StepsOf(plan), ElementsAre("patch persistentvolumes pv"));
  EXPECT_EQ(kube::Serialize(plan.writes[0].body),
            R"({"spec":{"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim",)"
            R"("namespace":"default","name":"data","uid":"u1","resourceVersion":"7"}},)"
            R"("metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":"yes"},)"
            R"("resourceVersion":"3","uid":"uid-pv"}})")
      << "pinned: another claim may want it as well";

  volume.spec.claim_ref = {{.ns = "default", .name = "data", .uid = "u1"}};
  plan = PlanOf({.claim = claim, .reserved = {SharedOf(volume)}, .storage_class = kLocal});
  ASSERT_THAT(StepsOf(plan), ElementsAre("patch persistentvolumeclaims default/data"));
  EXPECT_EQ(kube::Serialize(plan.writes[0].body),
            R"({"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes",)"
            R"("pv.kubernetes.io/bound-by-controller":"yes"},"resourceVersion":"7","uid":"u1"},)"
            R"("spec":{"volumeName":"pv"}})");

  claim = Claim("storageClassName: local, volumeName: pv", kBound);
  plan = PlanOf({.claim = claim, .named = SharedOf(volume), .storage_class = kLocal});
  ASSERT_THAT(StepsOf(plan), ElementsAre("patch persistentvolumeclaims/status default/data"));
  EXPECT_EQ(kube::Serialize(*kube::Find(plan.writes[0].body, {"status"})),
            R"({"phase":"Bound","accessModes":["ReadWriteOnce"],"capacity":{"storage":"20Gi"}})");

  claim = Claim("storageClassName: local, volumeName: pv", kBound,
                "phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 20Gi}");
  plan = PlanOf({.claim = claim, .named = SharedOf(volume), .storage_class = kLocal});
  EXPECT_THAT(StepsOf(plan), IsEmpty());
  EXPECT_THAT(Messages(plan), IsEmpty());
}

TEST(ClaimPlan, TakesWhatFits) {
  struct Case {
    std::string_view name, claim;
    VolumePtr volume;
    bool fits;
  };
  const Case cases[] = {
      {"fits", "storageClassName: local", Volume("pv", "10Gi", "storageClassName: local"), true},
      {"too small", "storageClassName: local", Volume("pv", "9Gi", "storageClassName: local"),
       false},
      {"another class", "storageClassName: local", Volume("pv", "10Gi", "storageClassName: x"),
       false},
      {"no class asked, class has", "storageClassName: ''",
       Volume("pv", "10Gi", "storageClassName: x"), false},
      {"neither has a class", "storageClassName: ''", Volume("pv", "10Gi", ""), true},
      {"class left open", "", Volume("pv", "10Gi", ""), true},
      {"block for files", "storageClassName: local",
       Volume("pv", "10Gi", "storageClassName: local, volumeMode: Block"), false},
      {"more access than asked for", "storageClassName: local",
       Volume("pv", "10Gi", "storageClassName: local", "", "ReadOnlyMany, ReadWriteOnce"), true},
      {"other access", "storageClassName: local",
       Volume("pv", "10Gi", "storageClassName: local", "", "ReadOnlyMany"), false},
      {"labels lack", "storageClassName: local, selector: {matchLabels: {disk: ssd}}",
       Volume("pv", "10Gi", "storageClassName: local", "disk: hdd"), false},
      {"labels match", "storageClassName: local, selector: {matchLabels: {disk: ssd}}",
       Volume("pv", "10Gi", "storageClassName: local", "disk: ssd"), true},
  };
  for (const Case& test : cases) {
    const auto claim = Claim(test.claim);
    const kube::Plan plan =
        PlanOf({.claim = claim, .unclaimed = {test.volume}, .storage_class = kLocal});
    EXPECT_EQ(plan.writes.size(), test.fits ? 1u : 0u) << test.name;
  }
}

TEST(ClaimPlan, VolumesInUseOrOnTheirWayOutAreLeftAlone) {
  const auto claim = Claim("storageClassName: local");
  kube::PersistentVolume released = *Volume("pv", "10Gi", "storageClassName: local");
  released.status.phase = "Released";
  kube::PersistentVolume dying = *Volume("pv", "10Gi", "storageClassName: local");
  dying.metadata.deletion_timestamp = kube::kTestNow;
  const VolumePtr earlier =
      Volume("pv", "10Gi",
             "storageClassName: local, claimRef: {namespace: default, name: data, uid: earlier}");
  const kube::Plan plan = PlanOf({.claim = claim,
                                  .reserved = {earlier},
                                  .unclaimed = {SharedOf(released), SharedOf(dying)},
                                  .storage_class = kLocal});
  EXPECT_THAT(StepsOf(plan), IsEmpty());
}

TEST(ClaimPlan, PrefersTheClosest) {
  const auto claim = Claim("storageClassName: local");
  const auto best = [&](VolumeList volumes) {
    return StepsOf(
        PlanOf({.claim = claim, .unclaimed = std::move(volumes), .storage_class = kLocal}));
  };
  const auto volume = [](std::string_view name, std::string_view size,
                         std::string_view access = "ReadWriteOnce") {
    return Volume(name, size, "storageClassName: local", "", access);
  };
  EXPECT_THAT(best({volume("a", "30Gi"), volume("b", "11Gi"), volume("c", "20Gi")}),
              ElementsAre("patch persistentvolumes b"));
  EXPECT_THAT(best({volume("a", "20Gi"), volume("b", "20Gi")}),
              ElementsAre("patch persistentvolumes a"));
  EXPECT_THAT(best({volume("a", "10Gi", "ReadWriteOnce, ReadWriteMany"), volume("b", "20Gi")}),
              ElementsAre("patch persistentvolumes b"));
}

TEST(ClaimPlan, ReservedVolumesComeFirstEvenIfAPodIsAwaited) {
  const auto claim = Claim("storageClassName: later");
  const VolumePtr reserved =
      Volume("mine", "50Gi", "storageClassName: later, claimRef: {namespace: default, name: data}");
  const kube::Plan plan = PlanOf({.claim = claim,
                                  .reserved = {reserved},
                                  .unclaimed = {Volume("any", "10Gi", "storageClassName: later")},
                                  .storage_class = kLater});
  ASSERT_THAT(StepsOf(plan), ElementsAre("patch persistentvolumes mine"));
  EXPECT_EQ(kube::FindString(plan.writes[0].body, {"spec", "claimRef", "uid"}), "u1");
  EXPECT_EQ(kube::Find(plan.writes[0].body, {"metadata", "annotations"}), nullptr)
      << "a person has chosen it";
}

TEST(ClaimPlan, AVolumeThatIsAskedForByName) {
  const auto claim = Claim("storageClassName: local, volumeName: pv");
  const auto with = [&](VolumePtr volume) {
    return PlanOf({.claim = claim,
                   .named = std::move(volume),
                   .unclaimed = {Volume("other", "10Gi", "storageClassName: local")},
                   .storage_class = kLocal});
  };
  EXPECT_THAT(StepsOf(with(nullptr)), IsEmpty()) << "it may come";
  EXPECT_THAT(StepsOf(with(Volume("pv", "10Gi", "storageClassName: local"))),
              ElementsAre("patch persistentvolumes pv"));
  const kube::Plan small = with(Volume("pv", "1Gi", "storageClassName: local"));
  EXPECT_THAT(StepsOf(small), IsEmpty());
  EXPECT_THAT(Messages(small),
              ElementsAre("VolumeMismatch: Cannot bind to requested volume \"pv\": requested PV is "
                          "too small"));
  const kube::Plan taken = with(Volume(
      "pv", "10Gi", "storageClassName: local, claimRef: {namespace: default, name: x, uid: x}"));
  EXPECT_THAT(StepsOf(taken), IsEmpty());
  EXPECT_THAT(Messages(taken),
              ElementsAre("FailedBinding: volume \"pv\" already bound to a different claim."));
  const kube::Plan own =
      with(Volume("pv", "10Gi",
                  "storageClassName: local, claimRef: {namespace: default, name: data, uid: u1}"));
  ASSERT_THAT(StepsOf(own), ElementsAre("patch persistentvolumeclaims default/data"));
  EXPECT_EQ(kube::Serialize(*kube::Find(own.writes[0].body, {"metadata", "annotations"})),
            R"({"pv.kubernetes.io/bind-completed":"yes"})");
}

TEST(ClaimPlan, ClassesMakeVolumes) {
  const auto claim = Claim("storageClassName: now, volumeMode: Block");
  const kube::Plan plan = PlanOf({.claim = claim, .storage_class = kNow});
  ASSERT_THAT(StepsOf(plan), ElementsAre("patch persistentvolumeclaims default/data",
                                         "create persistentvolumes pvc-u1"));
  EXPECT_EQ(kube::Serialize(*kube::Find(plan.writes[0].body, {"metadata", "annotations"})),
            R"({"volume.kubernetes.io/storage-provisioner":"disk.example.com",)"
            R"("volume.beta.kubernetes.io/storage-provisioner":"disk.example.com"})");
  const kube::Json& volume = plan.writes[1].body;
  EXPECT_TRUE(plan.writes[1].may_exist);
  EXPECT_EQ(kube::FindString(volume, {"spec", "capacity", "storage"}), "10Gi");
  EXPECT_EQ(kube::FindString(volume, {"spec", "storageClassName"}), "now");
  EXPECT_EQ(kube::FindString(volume, {"spec", "volumeMode"}), "Block");
  EXPECT_EQ(kube::FindString(volume, {"spec", "persistentVolumeReclaimPolicy"}), "Delete");
  EXPECT_EQ(kube::FindString(volume, {"spec", "claimRef", "uid"}), "u1");
  EXPECT_EQ(
      kube::FindString(volume, {"metadata", "annotations", "pv.kubernetes.io/provisioned-by"}),
      "disk.example.com");
  EXPECT_THAT(Messages(plan),
              ElementsAre("ProvisioningSucceeded: Successfully provisioned volume pvc-u1"));
}

TEST(ClaimPlan, WaitsForThePodsNode) {
  const auto waiting = Claim("storageClassName: later");
  const VolumePtr free = Volume("any", "10Gi", "storageClassName: later");
  const kube::Plan plan = PlanOf({.claim = waiting, .unclaimed = {free}, .storage_class = kLater});
  EXPECT_THAT(StepsOf(plan), IsEmpty()) << "the scheduler chooses among what there is";
  EXPECT_THAT(Messages(plan), ElementsAre("WaitForFirstConsumer: waiting for first consumer to be "
                                          "created before binding"));
  const auto chosen = Claim("storageClassName: later", kOnNode);
  EXPECT_THAT(
      StepsOf(PlanOf({.claim = chosen, .unclaimed = {free}, .storage_class = kLater})),
      ElementsAre("patch persistentvolumeclaims default/data", "create persistentvolumes pvc-u1"));
}

TEST(ClaimPlan, SaysWhyNothingCanBeMade) {
  const auto why = [](const kube::PersistentVolumeClaim& claim, StorageClassPtr storage_class) {
    const kube::Plan plan = PlanOf({.claim = claim, .storage_class = std::move(storage_class)});
    EXPECT_THAT(StepsOf(plan), IsEmpty());
    return Messages(plan);
  };
  EXPECT_THAT(why(Claim("storageClassName: ''"), nullptr),
              ElementsAre("FailedBinding: no persistent volumes available for this claim and no "
                          "storage class is set"));
  EXPECT_THAT(why(Claim("storageClassName: none"), nullptr),
              ElementsAre("ProvisioningFailed: storageclass.storage.k8s.io \"none\" not found"));
  EXPECT_THAT(why(Claim("storageClassName: local"), kLocal),
              ElementsAre("ProvisioningFailed: no volume plugin matched name: "
                          "kubernetes.io/no-provisioner"));
  EXPECT_THAT(why(Claim("storageClassName: now, selector: {matchLabels: {a: b}}"), kNow),
              ElementsAre("ProvisioningFailed: failed to provision volume with StorageClass "
                          "\"now\": claim Selector is not supported"));
}

TEST(ClaimPlan, TheDefaultClassMayComeLater) {
  const auto open = Claim("");
  const kube::Plan plan = PlanOf({.claim = open, .default_class = "standard"});
  ASSERT_THAT(StepsOf(plan), ElementsAre("patch persistentvolumeclaims default/data"));
  EXPECT_EQ(kube::FindString(plan.writes[0].body, {"spec", "storageClassName"}), "standard");
  const auto none = Claim("storageClassName: ''");
  EXPECT_THAT(StepsOf(PlanOf({.claim = none, .default_class = "standard"})), IsEmpty());
}

TEST(ClaimPlan, ClaimsThatAreBeingDeletedGetNothing) {
  auto claim = Claim("storageClassName: now");
  claim.metadata.deletion_timestamp = kube::kTestNow;
  EXPECT_THAT(StepsOf(PlanOf({.claim = claim, .storage_class = kNow})), IsEmpty());
}

TEST(ClaimPlan, ClaimsWhoseVolumeVanishedAreLost) {
  constexpr std::string_view kStatus =
      "phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 20Gi}";
  const auto claim = Claim("storageClassName: local, volumeName: pv", kBound, kStatus);
  const kube::Plan plan = PlanOf({.claim = claim, .storage_class = kLocal});
  ASSERT_THAT(StepsOf(plan), ElementsAre("patch persistentvolumeclaims/status default/data"));
  EXPECT_EQ(kube::Serialize(*kube::Find(plan.writes[0].body, {"status"})),
            R"({"accessModes":null,"capacity":null,"phase":"Lost"})");
  EXPECT_THAT(Messages(plan), ElementsAre("ClaimLost: Bound claim has lost its PersistentVolume. "
                                          "Data on the volume is lost!"));
  const auto lost = Claim("storageClassName: local, volumeName: pv", kBound, "phase: Lost");
  EXPECT_THAT(Messages(PlanOf({.claim = lost, .storage_class = kLocal})), IsEmpty());
  const kube::Plan stolen =
      PlanOf({.claim = claim,
              .named = Volume("pv", "20Gi", "claimRef: {namespace: default, name: x, uid: x}"),
              .storage_class = kLocal});
  EXPECT_THAT(Messages(stolen), ElementsAre("ClaimMisbound: Two claims are bound to the same "
                                            "volume, this one is bound incorrectly"));
  const kube::Plan back = PlanOf({.claim = lost,
                                  .named = Volume("pv", "20Gi", "storageClassName: local"),
                                  .storage_class = kLocal});
  EXPECT_THAT(StepsOf(back), ElementsAre("patch persistentvolumes pv"));
}

}  // namespace
}  // namespace koord::localcluster::claim_plan_test
