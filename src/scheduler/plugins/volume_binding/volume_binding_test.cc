#include "scheduler/plugins/volume_binding/volume_binding.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::volume_binding_test {
namespace {

using testing::ElementsAre;

constexpr std::string_view kNoVolume =
    "UnschedulableAndUnresolvable: node(s) didn't find available persistent volumes to bind";
constexpr std::string_view kNoSpace =
    "UnschedulableAndUnresolvable: node(s) did not have enough free storage";

// Two nodes, a in zone a and b in zone b, and one class for each way of binding.
class VolumeBindingTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* node : {"a", "b"}) {
      bed_.AddNode(fmt::format("{{metadata: {{name: {}, labels: {{zone: {}}}}}}}", node, node));
    }
    SetClass("later", "provisioner: disk, volumeBindingMode: WaitForFirstConsumer");
    SetClass("local",
             "provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer");
    SetClass("now", "provisioner: disk, volumeBindingMode: Immediate");
    Connect();
    plugin_ = std::make_unique<VolumeBinding>(bed_.context, VolumeBindingArgs{});
  }
  virtual void Connect() {}

  void SetClass(std::string_view name, std::string_view more) {
    bed_.objects.storage_classes.Set(
        FromYaml<kube::StorageClass>(fmt::format("{{metadata: {{name: {}}}, {}}}", name, more)));
  }
  void SetClaim(std::string_view name, std::string_view spec, std::string_view meta = "",
                std::string_view phase = "Pending") {
    bed_.objects.persistent_volume_claims.Set(FromYaml<kube::PersistentVolumeClaim>(
        fmt::format(R"(
metadata: {{name: {}, namespace: default, uid: uid-{}, resourceVersion: "{}", {}}}
spec: {{accessModes: [{}], resources: {{requests: {{storage: 10Gi}}}}, {}}}
status: {{phase: {}}}
)",
                    name, name, ++version_, meta, access_, spec, phase)));
  }
  void SetVolume(std::string_view name, std::string_view size, std::string_view zone,
                 std::string_view more = "storageClassName: local",
                 std::string_view phase = "Available", std::string_view labels = "") {
    const std::string affinity =
        zone.empty() ? ""
                     : fmt::format(
                           ", nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: "
                           "[{{key: zone, operator: In, values: [{}]}}]}}]}}}}",
                           zone);
    bed_.objects.persistent_volumes.Set(FromYaml<kube::PersistentVolume>(
        fmt::format(R"(
metadata: {{name: {}, resourceVersion: "{}", labels: {{{}}}}}
spec: {{capacity: {{storage: {}}}, accessModes: [ReadWriteOnce], {}{}}}
status: {{phase: {}}}
)",
                    name, ++version_, labels, size, more, affinity, phase)));
  }
  static std::string Pod(std::vector<std::string> claims, std::string_view name = "p") {
    std::string volumes;
    for (const std::string& claim : claims) {
      volumes +=
          fmt::format("{{name: {}, persistentVolumeClaim: {{claimName: {}}}}},", claim, claim);
    }
    return fmt::format(
        "{{metadata: {{name: {}}}, spec: {{containers: [{{name: c}}], volumes: [{}]}}}}", name,
        volumes);
  }
  // What PreFilter says, and then each node.
  std::vector<std::string> Ask(const std::string& pod) {
    const auto query = bed_.Query(*plugin_, pod);
    if (!bed_.pre_filter.verdict.ok()) {
      return {fmt::format("{}: {}", ToString(bed_.pre_filter.verdict.code),
                          bed_.pre_filter.verdict.Message())};
    }
    return {bed_.Check(*plugin_, *query, "a"), bed_.Check(*plugin_, *query, "b")};
  }

  PluginBed bed_;
  int version_ = 0;
  std::string access_ = "ReadWriteOnce";  // of claims
  std::unique_ptr<VolumeBinding> plugin_;
};

// ---- Claims that cannot be used at all

TEST_F(VolumeBindingTest, PodsWithoutClaimsAreSkipped) {
  EXPECT_THAT(Ask(Pod({})), ElementsAre("Skip: "));
  const auto query = bed_.Query(*plugin_, Pod({}));
  EXPECT_EQ(plugin_->VersionFor(query->shape()), 0u);
}

TEST_F(VolumeBindingTest, SaysWhatIsWrongWithAClaim) {
  SetClaim("lost", "volumeName: gone", "", "Lost");
  SetClaim("dying", "volumeName: pv", "deletionTimestamp: '2026-07-01T00:00:00Z'", "Bound");
  SetClaim("pending", "storageClassName: now");
  SetClaim("classless", "volumeMode: Filesystem");
  SetClaim("unknown-class", "storageClassName: unknown");
  SetClaim("prebound", "storageClassName: later, volumeName: pv");
  const auto rejects = [](std::string_view why) {
    return ElementsAre(fmt::format("UnschedulableAndUnresolvable: {}", why));
  };
  EXPECT_THAT(Ask(Pod({"none"})), rejects(R"(persistentvolumeclaim "none" not found)"));
  EXPECT_THAT(
      Ask(Pod({"lost"})),
      rejects(R"(persistentvolumeclaim "lost" bound to non-existent persistentvolume "gone")"));
  EXPECT_THAT(Ask(Pod({"dying"})), rejects(R"(persistentvolumeclaim "dying" is being deleted)"));
  for (const char* claim : {"pending", "classless", "unknown-class", "prebound"}) {
    EXPECT_THAT(Ask(Pod({claim})), rejects("pod has unbound immediate PersistentVolumeClaims"))
        << claim;
  }
}

TEST_F(VolumeBindingTest, EphemeralClaimsBelongToTheirPod) {
  const std::string pod =
      "{metadata: {name: p, uid: u}, spec: {containers: [{name: c}], volumes: [{name: v, "
      "ephemeral: "
      "{volumeClaimTemplate: {}}}]}}";
  EXPECT_THAT(Ask(pod), ElementsAre("UnschedulableAndUnresolvable: waiting for ephemeral volume "
                                    "controller to create the persistentvolumeclaim \"p-v\""));
  SetClaim("p-v", "storageClassName: later");
  EXPECT_THAT(Ask(pod), ElementsAre("UnschedulableAndUnresolvable: PVC default/p-v was not created "
                                    "for pod default/p (pod is not owner)"));
  const auto own = [&](std::string_view uid) {
    SetClaim("p-v", "storageClassName: later",
             fmt::format("ownerReferences: [{{kind: Pod, apiVersion: v1, name: p, uid: {}, "
                         "controller: true}}]",
                         uid));
  };
  own("before");
  EXPECT_THAT(Ask(pod), ElementsAre("", ""));
  Attempt attempt{.pod = PodOf(pod), .row = NodeRow(0), .node = "a"};
  attempt.shape = bed_.ledger.shapes().Of(attempt.pod);
  EXPECT_EQ(plugin_->Reserve(attempt).Message(),
            "PVC default/p-v was not created for pod default/p (pod is not owner)");
  own("u");
  EXPECT_TRUE(plugin_->Reserve(attempt).ok());
}

// ---- Bound claims

TEST_F(VolumeBindingTest, BoundVolumesDecideWhere) {
  SetClaim("data", "volumeName: pv", "", "Bound");
  EXPECT_THAT(Ask(Pod({"data"})),
              ElementsAre("UnschedulableAndUnresolvable: node(s) unavailable due to one or more "
                          "pvc(s) bound to non-existent pv(s)",
                          testing::HasSubstr("non-existent pv(s)")));
  SetVolume("pv", "10Gi", "a", "storageClassName: local", "Bound");
  EXPECT_THAT(Ask(Pod({"data"})), ElementsAre("",
                                              "UnschedulableAndUnresolvable: node(s) didn't match "
                                              "PersistentVolume's node affinity"));
  SetVolume("pv", "10Gi", "", "storageClassName: local", "Bound");
  EXPECT_THAT(Ask(Pod({"data"})), ElementsAre("", ""));
}

TEST_F(VolumeBindingTest, ReasonsComeTogether) {
  SetClaim("bound", "volumeName: pv", "", "Bound");
  SetVolume("pv", "10Gi", "a", "storageClassName: local", "Bound");
  SetClaim("waiting", "storageClassName: local");
  EXPECT_THAT(Ask(Pod({"bound", "waiting"})),
              ElementsAre(kNoVolume,
                          "UnschedulableAndUnresolvable: node(s) didn't match PersistentVolume's "
                          "node affinity, node(s) didn't find available persistent volumes to "
                          "bind"));
}

// ---- Claims that wait for a pod

TEST_F(VolumeBindingTest, WaitingClaimsNeedAVolumeThatFits) {
  SetClaim("data", "storageClassName: local");
  const auto on_a = [&](bool fits, std::string_view what) {
    EXPECT_THAT(Ask(Pod({"data"})), ElementsAre(fits ? "" : kNoVolume, kNoVolume)) << what;
    bed_.objects.persistent_volumes.Remove({"", "pv"});
  };
  on_a(false, "none");
  SetVolume("pv", "10Gi", "a");
  on_a(true, "fits");
  SetVolume("pv", "9Gi", "a");
  on_a(false, "too small");
  SetVolume("pv", "10Gi", "a", "storageClassName: later");
  on_a(false, "another class");
  SetVolume("pv", "10Gi", "a", "storageClassName: local", "Released");
  on_a(false, "not available");
  SetVolume("pv", "10Gi", "a", "storageClassName: local, volumeMode: Block");
  on_a(false, "another mode");
  SetVolume("pv", "10Gi", "a",
            "storageClassName: local, claimRef: {namespace: default, name: another}");
  on_a(false, "of another claim");
  SetVolume("pv", "10Gi", "a",
            "storageClassName: local, claimRef: {namespace: default, name: data, uid: old}");
  on_a(false, "of an earlier claim of this name");
  SetVolume("pv", "10Gi", "a",
            "storageClassName: local, claimRef: {namespace: default, name: data}");
  on_a(true, "made for it");
  access_ = "ReadWriteMany";
  SetClaim("data", "storageClassName: local");
  SetVolume("pv", "10Gi", "a");
  on_a(false, "access");
  access_ = "ReadWriteOnce";
  SetClaim("data", "storageClassName: local, selector: {matchLabels: {disk: ssd}}");
  SetVolume("pv", "10Gi", "a");
  on_a(false, "labels");
  SetVolume("pv", "10Gi", "a", "storageClassName: local", "Available", "disk: ssd");
  on_a(true, "labels");
}

TEST_F(VolumeBindingTest, TwoClaimsNeedTwoVolumes) {
  SetClaim("one", "storageClassName: local");
  SetClaim("two", "storageClassName: local");
  SetVolume("a1", "10Gi", "a");
  SetVolume("b1", "10Gi", "b");
  EXPECT_THAT(Ask(Pod({"one", "two"})), ElementsAre(kNoVolume, kNoVolume));
  SetVolume("a2", "20Gi", "a");
  EXPECT_THAT(Ask(Pod({"one", "two"})), ElementsAre("", kNoVolume));
}

TEST_F(VolumeBindingTest, ClassesProvisionWhereTheyMay) {
  SetClaim("data", "storageClassName: later");
  EXPECT_THAT(Ask(Pod({"data"})), ElementsAre("", ""));
  SetClass("later",
           "provisioner: disk, volumeBindingMode: WaitForFirstConsumer, allowedTopologies: "
           "[{matchLabelExpressions: [{key: zone, values: [b, c]}]}]");
  EXPECT_THAT(Ask(Pod({"data"})), ElementsAre(kNoVolume, ""));
  SetVolume("pv", "10Gi", "a", "storageClassName: later");
  EXPECT_THAT(Ask(Pod({"data"})), ElementsAre("", ""));
}

TEST_F(VolumeBindingTest, DriversThatReportCapacityNeedRoom) {
  SetClaim("data", "storageClassName: later");
  const auto report = [&](std::string_view name, std::string_view capacity) {
    bed_.objects.csi_storage_capacities.Set(FromYaml<kube::CsiStorageCapacity>(
        fmt::format("{{metadata: {{name: {}, namespace: kube-system}}, {}}}", name, capacity)));
  };
  bed_.objects.csi_drivers.Set(
      FromYaml<kube::CsiDriver>("{metadata: {name: disk}, spec: {storageCapacity: true}}"));
  EXPECT_THAT(Ask(Pod({"data"})), ElementsAre(kNoSpace, kNoSpace));
  report("a", "storageClassName: later, capacity: 10Gi, nodeTopology: {matchLabels: {zone: a}}");
  EXPECT_THAT(Ask(Pod({"data"})), ElementsAre("", kNoSpace));
  report("a",
         "storageClassName: later, capacity: 100Gi, maximumVolumeSize: 9Gi, nodeTopology: "
         "{matchLabels: {zone: a}}");
  report("b", "storageClassName: other, capacity: 10Gi, nodeTopology: {matchLabels: {zone: b}}");
  report("c", "storageClassName: later, capacity: 10Gi");
  EXPECT_THAT(Ask(Pod({"data"})), ElementsAre(kNoSpace, kNoSpace));
  report("d", "storageClassName: later, capacity: 10Gi, nodeTopology: {}");
  EXPECT_THAT(Ask(Pod({"data"})), ElementsAre("", ""));
  bed_.objects.csi_storage_capacities.Remove({"kube-system", "d"});
  bed_.objects.csi_drivers.Remove({"", "disk"});
  EXPECT_THAT(Ask(Pod({"data"})), ElementsAre("", ""));
}

TEST_F(VolumeBindingTest, SelectedNodesStay) {
  SetClaim("data", "storageClassName: later",
           "annotations: {volume.kubernetes.io/selected-node: b}");
  EXPECT_THAT(Ask(Pod({"data"})), ElementsAre(kNoVolume, ""));
}

// ---- Promises

class PromiseTest : public VolumeBindingTest {
 protected:
  void Connect() override {
    transport_ = std::make_shared<kube::InProcessTransport>(bed_.loop, server_);
    client_ = std::make_unique<kube::Client>(bed_.loop, transport_, kube::Client::Options{});
    bed_.context.client = client_.get();
  }

  Attempt AttemptOn(const std::string& pod, std::string_view node) {
    Attempt attempt{.pod = PodOf(pod), .row = *bed_.ledger.nodes().Find(node)};
    attempt.node = node;
    attempt.shape = bed_.ledger.shapes().Of(attempt.pod);
    return attempt;
  }
  void PreBind(Attempt& attempt) {
    plugin_->PreBind(attempt, [this](Verdict verdict) { answer_ = std::move(verdict); });
    bed_.loop.RunReady();
  }
  // The body of the one request that waits.
  kube::Json TakePatch(std::string_view path) {
    auto exchange = server_.Take();
    EXPECT_EQ(exchange.request.method, "PATCH");
    EXPECT_EQ(exchange.request.target.substr(0, exchange.request.target.find('?')), path);
    exchange.Answer(kube::Json(kube::json::object()));
    bed_.loop.RunReady();
    return *kube::ParseJson(exchange.request.body);
  }

  kube::ScriptedHandler server_;
  std::shared_ptr<kube::InProcessTransport> transport_;
  std::unique_ptr<kube::Client> client_;
  std::optional<Verdict> answer_;
};

TEST_F(PromiseTest, AVolumeIsPromisedOnceTheSmallestFirst) {
  SetClaim("one", "storageClassName: local");
  SetClaim("two", "storageClassName: local");
  SetVolume("big", "30Gi", "a");
  SetVolume("small", "20Gi", "a");
  Attempt attempt = AttemptOn(Pod({"one"}), "a");
  const uint64_t version = plugin_->VersionFor(*attempt.shape);
  ASSERT_TRUE(plugin_->Reserve(attempt).ok());
  EXPECT_NE(plugin_->VersionFor(*attempt.shape), version);
  EXPECT_THAT(Ask(Pod({"two"}, "q")), ElementsAre("", kNoVolume)) << "there is a second one";
  Attempt second = AttemptOn(Pod({"two"}, "q"), "a");
  ASSERT_TRUE(plugin_->Reserve(second).ok());
  SetClaim("three", "storageClassName: local");
  EXPECT_THAT(Ask(Pod({"three"}, "r")), ElementsAre(kNoVolume, kNoVolume));
  EXPECT_THAT(Ask(Pod({"one"}, "s")), ElementsAre("", kNoVolume)) << "its own";
  plugin_->Unreserve(attempt);
  EXPECT_THAT(Ask(Pod({"three"}, "r")), ElementsAre("", kNoVolume));
}

TEST_F(PromiseTest, WritesTheClaimAndWaitsUntilItIsBound) {
  SetClaim("data", "storageClassName: local");
  SetVolume("big", "30Gi", "a");
  SetVolume("small", "20Gi", "a");
  Attempt attempt = AttemptOn(Pod({"data"}), "a");
  ASSERT_TRUE(plugin_->Reserve(attempt).ok());
  PreBind(attempt);
  EXPECT_EQ(kube::Serialize(TakePatch("/api/v1/persistentvolumes/small")),
            R"({"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":"yes"},)"
            R"("resourceVersion":"3"},"spec":{"claimRef":{"apiVersion":"v1","kind":)"
            R"("PersistentVolumeClaim","namespace":"default","name":"data","uid":"uid-data"}}})");
  EXPECT_FALSE(answer_.has_value());
  SetVolume("small", "20Gi", "a",
            "storageClassName: local, claimRef: {namespace: default, name: data, uid: uid-data}",
            "Bound");
  EXPECT_FALSE(answer_.has_value());
  SetClaim("data", "storageClassName: local, volumeName: small", "", "Bound");
  ASSERT_TRUE(answer_.has_value());
  EXPECT_TRUE(answer_->ok());
}

TEST_F(PromiseTest, AsksForProvisioningAndWaits) {
  SetClaim("data", "storageClassName: later");
  Attempt attempt = AttemptOn(Pod({"data"}), "b");
  ASSERT_TRUE(plugin_->Reserve(attempt).ok());
  EXPECT_THAT(Ask(Pod({"data"}, "q")), ElementsAre(kNoVolume, "")) << "shared, so to the same node";
  PreBind(attempt);
  EXPECT_EQ(
      kube::Serialize(TakePatch("/api/v1/namespaces/default/persistentvolumeclaims/data")),
      R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"b"},"resourceVersion":"1"}})");
  EXPECT_FALSE(answer_.has_value()) << "the cache does not show the write yet";
  const std::string selected = "annotations: {volume.kubernetes.io/selected-node: b}";
  SetClaim("data", "storageClassName: later", selected);
  EXPECT_FALSE(answer_.has_value());
  SetVolume("made", "10Gi", "b", "storageClassName: later", "Bound");
  SetClaim("data", "storageClassName: later, volumeName: made", selected, "Bound");
  ASSERT_TRUE(answer_.has_value());
  EXPECT_TRUE(answer_->ok());
}

TEST_F(PromiseTest, FailsWhenTheProvisionerGivesUp) {
  SetClaim("data", "storageClassName: later");
  Attempt attempt = AttemptOn(Pod({"data"}), "b");
  ASSERT_TRUE(plugin_->Reserve(attempt).ok());
  PreBind(attempt);
  TakePatch("/api/v1/namespaces/default/persistentvolumeclaims/data");
  SetClaim("data", "storageClassName: later");  // a newer one, without the node
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(answer_->Message(), R"(binding volumes: selectedNode annotation reset for PVC "data")");
}

TEST_F(PromiseTest, FailsWhenTheObjectChangedMeanwhile) {
  SetClaim("data", "storageClassName: later");
  Attempt attempt = AttemptOn(Pod({"data"}), "b");
  ASSERT_TRUE(plugin_->Reserve(attempt).ok());
  PreBind(attempt);
  server_.Take().Answer(409, R"({"kind":"Status","status":"Failure","message":"changed",)"
                             R"("reason":"Conflict","code":409})");
  bed_.loop.RunReady();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(answer_->code, Code::kError);
  EXPECT_EQ(answer_->Message(), "binding volumes: changed");
  plugin_->Unreserve(attempt);
  EXPECT_THAT(Ask(Pod({"data"}, "q")), ElementsAre("", ""));
}

TEST_F(PromiseTest, GivesUpInTime) {
  SetClaim("data", "storageClassName: later");
  Attempt attempt = AttemptOn(Pod({"data"}), "b");
  ASSERT_TRUE(plugin_->Reserve(attempt).ok());
  PreBind(attempt);
  TakePatch("/api/v1/namespaces/default/persistentvolumeclaims/data");
  bed_.loop.Advance(599s);
  EXPECT_FALSE(answer_.has_value());
  bed_.loop.Advance(1s);
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(answer_->Message(), "binding volumes: context deadline exceeded");
}

TEST_F(PromiseTest, NobodyIsToldAfterUnreserve) {
  SetClaim("data", "storageClassName: later");
  Attempt attempt = AttemptOn(Pod({"data"}), "b");
  ASSERT_TRUE(plugin_->Reserve(attempt).ok());
  PreBind(attempt);
  plugin_->Unreserve(attempt);
  TakePatch("/api/v1/namespaces/default/persistentvolumeclaims/data");
  bed_.loop.Advance(1h);
  EXPECT_FALSE(answer_.has_value());
}

TEST_F(PromiseTest, PodsWhoseClaimsAreBoundHaveNothingToWrite) {
  SetClaim("data", "volumeName: pv", "", "Bound");
  SetVolume("pv", "10Gi", "", "storageClassName: local", "Bound");
  Attempt attempt = AttemptOn(Pod({"data"}), "b");
  ASSERT_TRUE(plugin_->Reserve(attempt).ok());
  PreBind(attempt);
  ASSERT_TRUE(answer_.has_value());
  EXPECT_TRUE(answer_->ok());
  plugin_->Unreserve(attempt);
}

}  // namespace
}  // namespace koord::scheduler::volume_binding_test
