#include "localcluster/apiserver/apply/managed_fields.h"

#include <gtest/gtest.h>

#include "localcluster/apiserver/apply/apply_testing.h"

namespace koord::apiserver::managed_fields_test {
namespace {

using kube::Json;
namespace json = kube::json;

const FieldSchema& ConfigMaps() { return BuiltinSchema("v1", "ConfigMap"); }
const FieldSchema& Pods() { return BuiltinSchema("v1", "Pod"); }

Json Created(std::string_view object, const FieldSchema& schema = ConfigMaps(),
             std::string_view manager = "a") {
  Json created = Parse(object);
  TrackUpdate(nullptr, created, Writer(manager, 0), schema);
  return created;
}

TEST(TrackUpdate, CreatorOwnsEveryField) {
  const Json pod = Created(R"({"apiVersion": "v1", "kind": "Pod",
      "metadata": {"name": "p", "namespace": "d", "uid": "u", "generateName": "p-",
                   "creationTimestamp": "2026-07-01T10:00:00Z", "labels": {"app": "x"},
                   "ownerReferences": [{"uid": "o", "name": "rs"}], "finalizers": ["f/g"]},
      "spec": {"containers": [{"name": "c", "image": "i", "args": ["x", "y"],
                               "ports": [{"containerPort": 80}],
                               "resources": {}}],
               "nodeSelector": {"z": "1"}, "tolerations": [{"key": "k"}]}})",
                           Pods(), "kubectl-create");
  EXPECT_EQ(pod.at("metadata").at("managedFields"), Parse(R"([{
      "manager": "kubectl-create", "operation": "Update", "apiVersion": "v1",
      "time": "2026-07-01T10:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {
        "f:metadata": {"f:generateName": {}, "f:labels": {".": {}, "f:app": {}},
                       "f:ownerReferences": {".": {}, "k:{\"uid\":\"o\"}": {}},
                       "f:finalizers": {".": {}, "v:\"f/g\"": {}}},
        "f:spec": {"f:containers": {".": {}, "k:{\"name\":\"c\"}": {
                     ".": {}, "f:name": {}, "f:image": {}, "f:args": {}, "f:resources": {},
                     "f:ports": {".": {}, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {
                       ".": {}, "f:containerPort": {}}}}},
                   "f:nodeSelector": {}, "f:tolerations": {}}}}])"))
      << pod.at("metadata").at("managedFields");
}

TEST(TrackUpdate, ChangedFieldsMoveToTheWriter) {
  const Json live = Created(R"({"metadata": {"name": "c"}, "data": {"x": "1", "y": "1"}})");
  Json updated = live;
  updated.at("data").as_object()["y"] = "2";
  updated.at("data").as_object()["z"] = "3";
  TrackUpdate(&live, updated, Writer("b", 5), ConfigMaps());
  EXPECT_EQ(Owners(updated), "a Update 10:00; b Update 10:05");
  EXPECT_EQ(Owned(updated, "a"), ".data .data.x");
  EXPECT_EQ(Owned(updated, "b"), ".data.y .data.z");
}

TEST(TrackUpdate, RemovedFieldsBelongToNobody) {
  const Json live = Created(R"({"metadata": {"name": "c"}, "data": {"x": "1", "y": "1"}})");
  Json updated = live;
  updated.at("data").as_object().erase("x");
  TrackUpdate(&live, updated, Writer("b", 5), ConfigMaps());
  EXPECT_EQ(Owners(updated), "a Update 10:00") << "b has changed nothing that it could own";
  EXPECT_EQ(Owned(updated, "a"), ".data .data.y");
}

TEST(TrackUpdate, OwnersWithoutFieldsDisappear) {
  const Json live = Created(R"({"metadata": {"name": "c"}, "data": {"x": "1"}})");
  Json updated = live;
  updated.as_object().erase("data");
  updated.as_object()["immutable"] = true;
  TrackUpdate(&live, updated, Writer("b", 5), ConfigMaps());
  EXPECT_EQ(Owners(updated), "b Update 10:05");
}

TEST(TrackUpdate, NoChangeKeepsEverythingAsItIs) {
  const Json live = Created(R"({"metadata": {"name": "c"}, "data": {"x": "1"}})");
  Json updated = live;
  TrackUpdate(&live, updated, Writer("b", 5), ConfigMaps());
  EXPECT_EQ(updated, live);
  Json by_owner = live;
  TrackUpdate(&live, by_owner, Writer("a", 5), ConfigMaps());
  EXPECT_EQ(by_owner, live);
}

TEST(TrackUpdate, ClientsThatDropManagedFieldsDoNotLoseThem) {
  const Json live = Created(R"({"metadata": {"name": "c"}, "data": {"x": "1"}})");
  Json updated = Parse(R"({"metadata": {"name": "c"}, "data": {"x": "2"}})");
  TrackUpdate(&live, updated, Writer("b", 5), ConfigMaps());
  EXPECT_EQ(Owned(updated, "b"), ".data.x");
  EXPECT_EQ(Owned(updated, "a"), ".data");
}

TEST(TrackUpdate, SubresourcesAreKeptApart) {
  const Json live = Created(R"({"metadata": {"name": "p"}, "spec": {"nodeName": "n"}})", Pods());
  Json updated = live;
  updated.as_object()["status"] = {{"phase", "Running"}};
  TrackUpdate(&live, updated, Writer("a", 5, "status"), Pods());
  EXPECT_EQ(Owners(updated), "a Update 10:00; a/status Update 10:05");
  EXPECT_EQ(Owned(updated, "a", "Update", "status"), ".status.phase");
}

TEST(TrackUpdate, ItemsAreOwnedByTheirKeys) {
  const Json live = Created(R"({"metadata": {"name": "p"}, "spec": {"containers": [
      {"name": "c", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}]}})",
                            Pods());
  Json reordered = Parse(R"({"metadata": {"name": "p"}, "spec": {"containers": [
      {"name": "c", "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "9"},
                            {"name": "C", "value": "3"}]}]}})");
  TrackUpdate(&live, reordered, Writer("b", 5), Pods());
  EXPECT_EQ(Owned(reordered, "b"),
            ".spec.containers[name=\"c\"].env[name=\"A\"].value "
            ".spec.containers[name=\"c\"].env[name=\"C\"] "
            ".spec.containers[name=\"c\"].env[name=\"C\"].name "
            ".spec.containers[name=\"c\"].env[name=\"C\"].value");
}

TEST(TrackUpdate, AtomicListsAreOneField) {
  const Json live = Created(
      R"({"metadata": {"name": "p"}, "spec": {"tolerations": [{"key": "a"}, {"key": "b"}]}})",
      Pods());
  Json updated = live;
  updated.at("spec").at("tolerations").as_array().pop_back();
  TrackUpdate(&live, updated, Writer("b", 5), Pods());
  EXPECT_EQ(Owned(updated, "b"), ".spec.tolerations");
  EXPECT_EQ(Owned(updated, "a"), "none");
}

TEST(TrackUpdate, ListsWithTwinsOrWithoutKeysAreOneField) {
  const Json live = Created(R"({"metadata": {"name": "p"}, "spec": {"containers": [
      {"name": "c", "env": [{"name": "A"}, {"name": "A"}, {"value": "x"}]}]}})",
                            Pods());
  EXPECT_NE(Owned(live, "a").find("[name=\"c\"].env "), std::string::npos) << Owned(live, "a");
  Json updated = live;
  updated.at("spec").at("containers").at(0).at("env").as_array().pop_back();
  TrackUpdate(&live, updated, Writer("b", 5), Pods());
  EXPECT_EQ(Owned(updated, "b"), ".spec.containers[name=\"c\"].env");
}

TEST(TrackUpdate, ResetForgetsOwnersUntilSomebodyApplies) {
  for (const char* reset : {"[]", "[{}]"}) {
    const Json live = Created(R"({"metadata": {"name": "c"}, "data": {"x": "1"}})");
    Json updated = live;
    updated.at("metadata").as_object()["managedFields"] = Parse(reset);
    updated.at("data").as_object()["x"] = "2";
    TrackUpdate(&live, updated, Writer("b", 5), ConfigMaps());
    EXPECT_EQ(Owners(updated), "") << reset;
    EXPECT_EQ(kube::Find(updated, {"metadata", "managedFields"}), nullptr);

    const Json untracked = updated;
    updated.at("data").as_object()["x"] = "3";
    TrackUpdate(&untracked, updated, Writer("b", 6), ConfigMaps());
    EXPECT_EQ(Owners(updated), "");
  }
}

TEST(TrackUpdate, ClientsMayRewriteOwners) {
  const Json live = Created(R"({"metadata": {"name": "c"}, "data": {"x": "1"}})");
  Json updated = live;
  updated.at("metadata").as_object()["managedFields"] = Parse(R"([
      {"manager": "other", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
       "fieldsV1": {"f:data": {"f:x": {}}}}])");
  updated.at("data").as_object()["y"] = "2";
  TrackUpdate(&live, updated, Writer("b", 5), ConfigMaps());
  EXPECT_EQ(Owners(updated), "other Apply ; b Update 10:05");
  EXPECT_EQ(Owned(updated, "other", "Apply"), ".data.x");
}

TEST(TrackUpdate, KeepsStoredOwnersIfTheNewOnesCannotBeRead) {
  const Json live = Created(R"({"metadata": {"name": "c"}, "data": {"x": "1"}})");
  for (
      const char* bad :
      {R"([{"manager": "x", "operation": "Apply", "fieldsType": "FieldsV2", "fieldsV1": {}}])",
       R"([{"manager": "x", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {"data": {}}}])",
       R"([{"manager": "x", "operation": "Take", "fieldsType": "FieldsV1", "fieldsV1": {}}])",
       R"([{"manager": "x", "operation": "Update", "fieldsType": "FieldsV1"}])", R"([1])",
       R"({"a": 1})", "null"}) {
    Json updated = live;
    updated.at("metadata").as_object()["managedFields"] = Parse(bad);
    TrackUpdate(&live, updated, Writer("b", 5), ConfigMaps());
    EXPECT_EQ(updated, live) << bad;
  }
}

TEST(TrackUpdate, SubresourcesCannotRewriteOwners) {
  const Json live = Created(R"({"metadata": {"name": "p"}, "spec": {"nodeName": "n"}})", Pods());
  Json updated = live;
  updated.at("metadata").as_object()["managedFields"] = json::array();
  TrackUpdate(&live, updated, Writer("b", 5, "status"), Pods());
  EXPECT_EQ(updated, live);
}

TEST(TrackUpdate, ManyWritersAreRememberedTogether) {
  Json object = Created(R"({"metadata": {"name": "c"}, "data": {"k0": "x"}})", ConfigMaps(), "w0");
  for (int i = 1; i <= 13; ++i) {
    const Json live = object;
    object.at("data").as_object()[fmt::format("k{}", i)] = "x";
    TrackUpdate(&live, object, Writer(fmt::format("w{}", i), i), ConfigMaps());
    EXPECT_LE(object.at("metadata").at("managedFields").as_array().size(), 10u);
  }
  EXPECT_EQ(Owners(object),
            "ancient-changes Update 10:04; w5 Update 10:05; w6 Update 10:06; w7 Update 10:07; "
            "w8 Update 10:08; w9 Update 10:09; w10 Update 10:10; w11 Update 10:11; "
            "w12 Update 10:12; w13 Update 10:13");
  EXPECT_EQ(Owned(object, "ancient-changes"), ".data .data.k0 .data.k1 .data.k2 .data.k3 .data.k4");
}

TEST(TrackUpdate, CustomResourcesByTheirSchema) {
  const OpenApiFieldSchema schema(Parse(R"({"type": "object", "properties": {
      "spec": {"type": "object", "properties": {
        "replicas": {"type": "integer"},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
                "items": {"type": "object", "properties": {"n": {"type": "string"}, "v": {"type": "integer"}}}},
        "atomic": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
        "list": {"type": "array", "items": {"type": "object"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}})"));
  const Json object = Created(R"({"metadata": {"name": "w", "labels": {"l": "1"}}, "spec": {
      "replicas": 1, "set": ["a"], "map": [{"n": "x", "v": 1}], "atomic": {"k": "v"},
      "list": [{}], "free": {"any": {"thing": [1]}}}})",
                              schema.root());
  EXPECT_EQ(Owned(object, "a"),
            ".metadata.labels .metadata.labels.l .spec .spec.atomic .spec.free .spec.free.any "
            ".spec.free.any.thing .spec.list .spec.map .spec.map[n=\"x\"] .spec.map[n=\"x\"].n "
            ".spec.map[n=\"x\"].v .spec.replicas .spec.set .spec.set[=\"a\"]");
}

TEST(TrackUpdate, WithoutSchemaMembersAreFields) {
  const Json object = Created(R"({"metadata": {"name": "x"}, "spec": {"a": {"b": [1]}}})",
                              FieldSchema::Of(nullptr));
  EXPECT_EQ(Owned(object, "a"), ".spec .spec.a .spec.a.b");
}

TEST(TrackUpdate, SurvivesStrangeObjects) {
  for (const char* strange :
       {"[]", "1", R"({"metadata": 5})", R"({"metadata": {"managedFields": 3}})", R"({"spec": []})",
        R"({"metadata": {"labels": []}, "spec": {"containers": {}}})"}) {
    Json object = Parse(strange);
    TrackUpdate(nullptr, object, Writer("a"), Pods());
    const Json live =
        Parse(R"({"metadata": {"managedFields": [{"fieldsV1": {"f:spec": 1, "": {}}}, 7]}})");
    Json updated = Parse(strange);
    TrackUpdate(&live, updated, Writer("a"), Pods());
  }
}

TEST(UnchangedButForTimes, SeesRealChangesOnly) {
  const Json live =
      Created(R"({"metadata": {"name": "c", "resourceVersion": "5"}, "data": {"x": "1"}})");
  Json other_time = live;
  other_time.at("metadata").at("managedFields").at(0).as_object()["time"] = "2030-01-01T00:00:00Z";
  other_time.at("metadata").as_object()["resourceVersion"] = "9";
  EXPECT_TRUE(UnchangedButForTimes(live, other_time));

  Json other_data = live;
  other_data.at("data").as_object()["x"] = "2";
  EXPECT_FALSE(UnchangedButForTimes(live, other_data));
  Json more_data = live;
  more_data.as_object()["immutable"] = true;
  EXPECT_FALSE(UnchangedButForTimes(live, more_data));
  EXPECT_FALSE(UnchangedButForTimes(more_data, live));
  Json other_label = live;
  kube::At(other_label, {"metadata", "labels", "a"}) = "b";
  EXPECT_FALSE(UnchangedButForTimes(live, other_label));
  EXPECT_FALSE(UnchangedButForTimes(other_label, live));
  Json other_owner = live;
  other_owner.at("metadata").at("managedFields").at(0).as_object()["manager"] = "b";
  EXPECT_FALSE(UnchangedButForTimes(live, other_owner));
  Json no_owner = live;
  no_owner.at("metadata").as_object().erase("managedFields");
  EXPECT_FALSE(UnchangedButForTimes(live, no_owner));
}

std::string FirstError(const FieldErrors& errors) {
  return errors.empty() ? "" : errors.front().ToString();
}

TEST(FieldManagerName, Checks) {
  EXPECT_EQ(FirstError(ValidateFieldManager("", true)),
            "fieldManager: Required value: is required for apply patch");
  EXPECT_EQ(FirstError(ValidateFieldManager("", false)), "");
  EXPECT_EQ(FirstError(ValidateFieldManager("kubectl", true)), "");
  EXPECT_EQ(FirstError(ValidateFieldManager(std::string(129, 'x'), false)),
            "fieldManager: Too long: may not be more than 128 bytes");
  EXPECT_EQ(FirstError(ValidateFieldManager("a\nb", false)),
            "fieldManager: Invalid value: \"a\\nb\": should only contain printable characters");
}

TEST(FieldManagerName, FromUserAgent) {
  EXPECT_EQ(ManagerFromUserAgent("kubectl/v1.20.2 (linux/amd64)"), "kubectl");
  EXPECT_EQ(ManagerFromUserAgent("curl"), "curl");
  EXPECT_EQ(ManagerFromUserAgent(""), "");
}

}  // namespace
}  // namespace koord::apiserver::managed_fields_test
