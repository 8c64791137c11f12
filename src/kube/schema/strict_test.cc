#include "kube/schema/strict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::kube::strict_test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

struct Outcome {
  Status status;
  Json document;
  ReportedFields unknown;
};

Outcome ConformText(std::string_view kind, std::string_view text, ConformOptions options = {}) {
  Outcome outcome;
  outcome.document = ParseJson(text).value();
  for (const char* version : {"v1", "apps/v1", "coordination.k8s.io/v1", "metrics.k8s.io/v1beta1",
                              "apiextensions.k8s.io/v1", "policy/v1"}) {
    if (const Type* type = FindBuiltinType(version, kind)) {
      outcome.status = Conform(*type, outcome.document, outcome.unknown, options);
      return outcome;
    }
  }
  ADD_FAILURE() << "no type " << kind;
  return outcome;
}

TEST(Conform, CollectsAndDropsUnknownFieldsInDocumentOrder) {
  const Outcome outcome = ConformText("Pod", R"({
    "kind": "Pod", "extra": {"deep": 1}, "metadata": {"name": "p", "labelz": {}},
    "spec": {"foo": null, "containers": [{"name": "a"}, {"name": "b", "bar": 1, "image": "i",
             "ports": [{"containerPort": 1, "Protocol": "TCP"}]}]}})");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.unknown,
              ElementsAre("extra", "metadata.labelz", "spec.foo", "spec.containers[1].bar",
                          "spec.containers[1].ports[0].Protocol"));
  EXPECT_EQ(Serialize(outcome.document),
            R"({"kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"a"},)"
            R"({"name":"b","image":"i","ports":[{"containerPort":1}]}]}})");
}

TEST(Conform, KnowsMembersOfInlinedStructs) {
  const Outcome outcome = ConformText("Pod", R"({"spec": {"volumes": [
    {"name": "a", "emptyDir": {"sizeLimit": "1024Mi"}}, {"name": "b", "volumeSource": {}}],
    "containers": [{"livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 5}}]}})");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.unknown, ElementsAre("spec.volumes[1].volumeSource"));
  EXPECT_EQ(Serialize(outcome.document),
            R"({"spec":{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1Gi"}},{"name":"b"}],)"
            R"("containers":[{"livenessProbe":{"httpGet":{"port":"http"},"periodSeconds":5}}]}})");
}

TEST(Conform, CanonicalisesQuantities) {
  const Outcome outcome = ConformText("Pod", R"({"spec": {"containers": [{"resources": {
    "requests": {"cpu": 0.5, "memory": "1024Mi", "pods": 2, "x": "1.500", "y": null},
    "limits": {"cpu": "1000m", "memory": "1Gi"}}}]}})");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(Serialize(outcome.document),
            R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"500m","memory":"1Gi",)"
            R"("pods":"2","x":"1.500","y":"0"},"limits":{"cpu":"1","memory":"1Gi"}}}]}})");
}

TEST(Conform, NormalisesTimesAndDurations) {
  const Outcome pod = ConformText("Pod", R"({"metadata": {"creationTimestamp": null,
    "deletionTimestamp": "2026-07-01T12:00:00.75+02:00"},
    "status": {"startTime": "2026-02-28T23:59:59Z"}})");
  ASSERT_TRUE(pod.status.ok()) << pod.status;
  EXPECT_EQ(Serialize(pod.document), R"({"metadata":{"deletionTimestamp":"2026-07-01T10:00:00Z"},)"
                                     R"("status":{"startTime":"2026-02-28T23:59:59Z"}})");
  const Outcome lease = ConformText("Lease", R"({"spec": {"renewTime": "2026-07-01T10:00:00Z"}})");
  EXPECT_EQ(Serialize(lease.document), R"({"spec":{"renewTime":"2026-07-01T10:00:00.000000Z"}})");
  const Outcome metrics = ConformText("NodeMetrics", R"({"window": "90s"})");
  EXPECT_EQ(Serialize(metrics.document), R"({"window":"1m30s"})");
}

TEST(Conform, DropsNullsAndWhatIsEmpty) {
  const Outcome outcome = ConformText("Deployment", R"({
    "metadata": {"creationTimestamp": null, "labels": {}, "annotations": {"a": ""},
                 "finalizers": []},
    "spec": {"replicas": 0, "paused": false, "minReadySeconds": 0, "strategy": {}, "template": {
      "spec": {"hostNetwork": false, "enableServiceLinks": false, "nodeName": "",
               "volumes": [{"name": "v", "emptyDir": {}}], "securityContext": {},
               "containers": [{"name": "", "image": "", "resources": {}, "args": [""],
                               "env": [{"name": "e", "value": ""}, null],
                               "ports": [{"containerPort": 0}]}]}}},
    "status": {}})");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(Serialize(outcome.document),
            R"({"metadata":{"annotations":{"a":""}},"spec":{"replicas":0,"strategy":{},)"
            R"("template":{"spec":{"enableServiceLinks":false,)"
            R"("volumes":[{"name":"v","emptyDir":{}}],"securityContext":{},)"
            R"("containers":[{"name":"","resources":{},"args":[""],"env":[{"name":"e"},{}],)"
            R"("ports":[{"containerPort":0}]}]}}},"status":{}})");
}

TEST(Conform, KeepsWhatIsEmptyOnRequest) {
  const Outcome outcome =
      ConformText("Pod", R"({"metadata": {"labels": {}}, "spec": {"hostNetwork": false,
                            "nodeName": null}})",
                  {.omit_empty = false});
  EXPECT_EQ(Serialize(outcome.document),
            R"({"metadata":{"labels":{}},"spec":{"hostNetwork":false}})");
}

TEST(Conform, LeavesFreeFormAlone) {
  const char* text =
      R"({"spec":{"versions":[{"name":"v1","served":false,"storage":true,"schema":)"
      R"({"openAPIV3Schema":{"type":"object","properties":{"a":{"default":{"x":null,"n":0},)"
      R"("enum":[null,1,"a"],"x-kubernetes-int-or-string":true,"minimum":1.5,)"
      R"("items":{"any":1}}}}}}]}})";
  const Outcome outcome = ConformText("CustomResourceDefinition", text);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.unknown, IsEmpty());
  EXPECT_EQ(outcome.document, ParseJson(text).value());
}

TEST(Conform, IntegersMayBeWrittenAsWholeNumbers) {
  const Outcome outcome = ConformText("Deployment", R"({"spec": {"replicas": 3.0}})");
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_EQ(Serialize(outcome.document), R"({"spec":{"replicas":3}})");
}

struct ErrorCase {
  const char* kind;
  const char* text;
  const char* error;
};

TEST(Conform, NamesWhatIsWronglyTyped) {
  const ErrorCase cases[] = {
      {"Deployment", R"({"spec": {"replicas": "3"}})",
       R"(spec.replicas: expected an integer, found "3")"},
      {"Deployment", R"({"spec": {"replicas": 1.5}})",
       "spec.replicas: expected an integer, found a number"},
      {"Deployment", R"({"spec": {"replicas": 18446744073709551615}})",
       "spec.replicas: expected an integer, found a number"},
      {"Deployment", R"({"spec": {"paused": "true"}})",
       R"(spec.paused: expected a boolean, found "true")"},
      {"Pod", R"({"metadata": {"labels": {"a": 1}}})",
       "metadata.labels.a: expected a string, found a number"},
      {"Pod", R"({"metadata": []})", "metadata: expected an object, found a list"},
      {"Pod", R"({"spec": {"containers": {}}})",
       "spec.containers: expected a list, found an object"},
      {"Pod", R"({"spec": {"containers": [{"name": "a"}, "b"]}})",
       R"(spec.containers[1]: expected an object, found "b")"},
      {"Pod", R"({"spec": {"containers": [{"resources": {"limits": {"cpu": "1K"}}}]}})",
       "spec.containers[0].resources.limits.cpu: unable to parse quantity's suffix"},
      {"Pod", R"({"metadata": {"creationTimestamp": "today"}})",
       R"(metadata.creationTimestamp: expected an RFC 3339 time, found "today")"},
      {"Pod", R"({"metadata": {"creationTimestamp": "2026-02-30T00:00:00Z"}})",
       R"(metadata.creationTimestamp: expected an RFC 3339 time, found "2026-02-30T00:00:00Z")"},
      {"Secret", R"({"data": {"k": "?"}})", R"(data.k: expected a base64 string, found "?")"},
      {"PodDisruptionBudget", R"({"spec": {"minAvailable": true}})",
       "spec.minAvailable: expected a 32-bit integer or a string, found a boolean"},
      {"Pod", "[]", "expected an object, found a list"},
      {"NodeMetrics", R"({"window": 5})", "window: expected a duration, found a number"},
  };
  for (const ErrorCase& c : cases) {
    EXPECT_EQ(Message(ConformText(c.kind, c.text).status), c.error) << c.text;
  }
}

std::string Members(size_t count, std::string_view member) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format(fmt::runtime(member), i) + ",";
  return text;
}

TEST(Conform, ReportsAHundredUnknownFieldsAndCountsTheOthers) {
  const Outcome outcome = ConformText(
      "Pod",
      fmt::format(R"({{"kind": "Pod", "metadata": {{{}"name": "p", "labels": {{"a": "b"}}}}}})",
                  Members(5000, R"("u{}": 1)")));
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.unknown.size(), 100u);
  EXPECT_EQ(outcome.unknown.more(), 4900u);
  EXPECT_EQ(*outcome.unknown.begin(), "metadata.u0");
  EXPECT_EQ(Serialize(outcome.document),
            R"({"kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}}})");
}

TEST(Conform, CutsThePathsThatItReports) {
  const Outcome outcome =
      ConformText("Pod", fmt::format(R"({{"{}é": 1}})", std::string(1023, 'x')));
  ASSERT_EQ(outcome.unknown.size(), 1u);
  EXPECT_EQ(*outcome.unknown.begin(), std::string(1023, 'x') + "...");
}

TEST(DuplicateFields, AHundredAreReportedAndTheOthersCounted) {
  const std::string members = Members(3000, R"("k{}": {{"x": 1, "x": 2}})");
  const ReportedFields found = FindDuplicateFields(
      fmt::format(R"({{"a": {{{}"b": 1}}, "c": {{{}{}"b": 1}}}})", members, members, members));
  EXPECT_EQ(found.size(), 100u);
  EXPECT_EQ(*found.begin(), "a.k0.x");
  // In "a" and twice in "c" the members below, and in "c" those that occur twice themselves.
  EXPECT_EQ(found.more(), 3 * 3000u + 3000u - 100u);
}

struct DuplicateCase {
  const char* text;
  std::vector<std::string> paths;
};

TEST(DuplicateFields, AreFoundWithTheirPaths) {
  const DuplicateCase cases[] = {
      {R"({"a": 1, "b": 2})", {}},
      {R"({"a": {"a": {"a": 1}}})", {}},
      {R"({"a": 1, "a": 2})", {"a"}},
      {R"({"a": 1, "a": 2, "a": 3})", {"a"}},
      {R"({"spec": {"x": 1, "y": {"x": 1}, "x": 2}})", {"spec.x"}},
      {R"({"spec": {"c": [{"n": 1}, {"n": 1, "m": "\"n\": {", "n": 2}]}, "spec": 1})",
       {"spec.c[1].n", "spec"}},
      {R"({"l": [[{"a": 1}], [{"b": 1}, {"a": 1, "a": 1}]]})", {"l[1][1].a"}},
      {R"({"a": "b", "b": "a"})", {}},
      {R"({"\u0061": 1, "a": 2})", {"a"}},
      {R"({"a\"": 1, "a\\": 2, "a\\": 2})", {"a\\"}},
      {R"("text")", {}},
      {"", {}},
  };
  for (const DuplicateCase& c : cases) {
    EXPECT_THAT(FindDuplicateFields(c.text), ElementsAreArray(c.paths)) << c.text;
  }
}

TEST(DuplicateFields, AreFoundInLargeObjects) {
  std::string text = "{";
  for (int i = 0; i < 100; ++i) text += fmt::format(R"("k{}": {{}}, )", i);
  EXPECT_THAT(FindDuplicateFields(text + R"("k100": 1})"), IsEmpty());
  EXPECT_THAT(FindDuplicateFields(text + R"("k3": 1, "k99": 1})"), ElementsAre("k3", "k99"));
}

TEST(DuplicateFields, BrokenTextIsHarmless) {
  for (const char* text : {"}", "]", ",", "{\"", "{\"a", "{\"a\\", "[[[", "{{\"a\":1,\"a\":1",
                           "{\"\\x\":1,\"\\x\":1}"}) {
    FindDuplicateFields(text);
  }
}

}  // namespace
}  // namespace koord::kube::strict_test
