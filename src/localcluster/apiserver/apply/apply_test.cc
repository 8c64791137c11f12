#include <gtest/gtest.h>

#include "kube/api_error.h"
#include "localcluster/apiserver/apply/apply_testing.h"
#include "localcluster/apiserver/apply/managed_fields.h"

namespace koord::apiserver::apply_test {
namespace {

using kube::Json;
namespace json = kube::json;

const FieldSchema& Deployments() { return BuiltinSchema("apps/v1", "Deployment"); }
const FieldSchema& Pods() { return BuiltinSchema("v1", "Pod"); }

ApplyOptions By(std::string_view manager, int minute = 0, bool force = false) {
  return {Writer(manager, minute), force, nullptr};
}

StatusOr<Json> TryApply(const Json* live, std::string_view applied, const ApplyOptions& options,
                        const FieldSchema& schema = Deployments()) {
  return Apply(live, Parse(applied), options, schema);
}

Json MustApply(const Json* live, std::string_view applied, const ApplyOptions& options,
               const FieldSchema& schema = Deployments()) {
  auto result = TryApply(live, applied, options, schema);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : Json(json::object());
}

// A plain write by a client that does not apply.
Json Updated(const Json& live, std::initializer_list<std::string_view> path, Json value,
             const FieldWriter& writer, const FieldSchema& schema = Deployments()) {
  Json updated = live;
  kube::At(updated, path) = std::move(value);
  TrackUpdate(&live, updated, writer, schema);
  return updated;
}

Json WithoutManagedFields(Json object) {
  object.at("metadata").as_object().erase("managedFields");
  return object;
}

std::string ManyContainers(size_t count, std::string_view image) {
  std::string items;
  for (size_t i = 0; i < count; ++i) {
    items += fmt::format(R"({}{{"name": "c{}", "image": "{}"}})", i == 0 ? "" : ",", i, image);
  }
  return fmt::format(R"({{"metadata": {{"name": "p"}}, "spec": {{"containers": [{}]}}}})", items);
}

TEST(Apply, LongListsMergeItemByItem) {
  const Json first = MustApply(nullptr, ManyContainers(3000, "i:1"), By("a"), Pods());
  const Json second = MustApply(&first, ManyContainers(3000, "i:2"), By("a", 1), Pods());
  EXPECT_EQ(WithoutManagedFields(second), Parse(ManyContainers(3000, "i:2")));
  const Json fewer = MustApply(&second, ManyContainers(2, "i:2"), By("a", 2), Pods());
  EXPECT_EQ(WithoutManagedFields(fewer), Parse(ManyContainers(2, "i:2")));
  std::string twice = ManyContainers(3000, "i:1");
  twice.replace(twice.find("c2999"), 5, "c0");
  EXPECT_FALSE(TryApply(&first, twice, By("a"), Pods()).ok());
}

TEST(Apply, ManyConflictsAreCounted) {
  const Json live = MustApply(nullptr, ManyContainers(3000, "i:1"), By("a"), Pods());
  const auto refused = TryApply(&live, ManyContainers(3000, "i:2"), By("b"), Pods());
  const auto error = kube::AsApiError(refused.status());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->causes.size(), 1000u);
  EXPECT_TRUE(error->message.starts_with("Apply failed with 3000 conflicts: "));
  EXPECT_TRUE(error->message.ends_with("and 2000 more conflicts"));
}

TEST(Apply, CreatesWhatIsMissing) {
  const Json object = MustApply(nullptr, R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "d", "labels": {"app": "x"}}, "spec": {"replicas": 3}})",
                                By("a"));
  EXPECT_EQ(Owners(object), "a Apply 10:00");
  EXPECT_EQ(Owned(object, "a", "Apply"), ".metadata.labels.app .spec.replicas");
  EXPECT_EQ(kube::FindInt(object, {"spec", "replicas"}), 3);
}

// Manager a applies 3; an editor sets 5; a applies 3 again.
TEST(Apply, ConflictsWithAnEditorUnlessForced) {
  constexpr std::string_view kThree = R"({"metadata": {"name": "d"}, "spec": {"replicas": 3}})";
  const Json first = MustApply(nullptr, kThree, By("a"));
  const Json edited =
      Updated(first, {"spec", "replicas"}, 5, Writer("kubectl-edit", 1, {}, "apps/v1"));
  EXPECT_EQ(Owned(edited, "a", "Apply"), "none");

  const auto refused = TryApply(&edited, kThree, By("a", 2));
  ASSERT_FALSE(refused.ok());
  const auto error = kube::AsApiError(refused.status());
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, 409);
  EXPECT_EQ(error->reason, "Conflict");
  EXPECT_EQ(error->message,
            "Apply failed with 1 conflict: conflict with \"kubectl-edit\" using apps/v1 at "
            "2026-07-01T10:01:00Z: .spec.replicas");
  ASSERT_EQ(error->causes.size(), 1u);
  EXPECT_EQ(error->causes[0].reason, "FieldManagerConflict");
  EXPECT_EQ(error->causes[0].field, ".spec.replicas");
  EXPECT_EQ(error->causes[0].message,
            "conflict with \"kubectl-edit\" using apps/v1 at 2026-07-01T10:01:00Z");

  const Json forced = MustApply(&edited, kThree, By("a", 2, /*force=*/true));
  EXPECT_EQ(kube::FindInt(forced, {"spec", "replicas"}), 3);
  EXPECT_EQ(Owners(forced), "a Apply 10:02");
  EXPECT_EQ(Owned(forced, "a", "Apply"), ".spec.replicas");
}

TEST(Apply, SeveralConflictsAreGroupedByManager) {
  Json live =
      MustApply(nullptr, R"({"metadata": {"name": "d", "labels": {"app": "1"}}})", By("bar"));
  live = Updated(live, {"spec", "replicas"}, 1, Writer("foo", 1, "scale", "apps/v1"));
  live = Updated(live, {"spec", "paused"}, true, Writer("foo", 1, "scale", "apps/v1"));
  const auto refused = TryApply(&live, R"({"metadata": {"name": "d", "labels": {"app": "2"}},
      "spec": {"replicas": 2, "paused": false}})",
                                By("me", 3));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(kube::AsApiError(refused.status())->message,
            "Apply failed with 3 conflicts: conflicts with \"bar\":\n- .metadata.labels.app\n"
            "conflicts with \"foo\" with subresource \"scale\" using apps/v1 at "
            "2026-07-01T10:01:00Z:\n- .spec.paused\n- .spec.replicas");
}

TEST(Apply, TheSameValueIsShared) {
  constexpr std::string_view kThree = R"({"metadata": {"name": "d"}, "spec": {"replicas": 3}})";
  const Json first = MustApply(nullptr, kThree, By("a"));
  const Json second = MustApply(&first, kThree, By("b", 1));
  EXPECT_EQ(Owners(second), "a Apply 10:00; b Apply 10:01");
  EXPECT_EQ(Owned(second, "a", "Apply"), ".spec.replicas");
  EXPECT_EQ(Owned(second, "b", "Apply"), ".spec.replicas");

  // Who gives up a shared field leaves it to the other.
  const Json third = MustApply(&second, R"({"metadata": {"name": "d"}})", By("a", 2));
  EXPECT_EQ(Owners(third), "b Apply 10:01");
  EXPECT_EQ(kube::FindInt(third, {"spec", "replicas"}), 3);
}

TEST(Apply, AgainChangesNothing) {
  constexpr std::string_view kBody =
      R"({"metadata": {"name": "d", "labels": {"a": "1"}}, "spec": {"replicas": 3}})";
  const Json first = MustApply(nullptr, kBody, By("a"));
  EXPECT_EQ(MustApply(&first, kBody, By("a", 30)), first);
}

TEST(Apply, WhatIsNoLongerAppliedIsRemoved) {
  const Json first =
      MustApply(nullptr, R"({"metadata": {"name": "d", "labels": {"a": "1", "b": "2"}},
      "spec": {"replicas": 3, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}})",
                By("a"));
  const Json second = MustApply(&first, R"({"metadata": {"name": "d", "labels": {"a": "1"}},
      "spec": {"replicas": 3}})",
                                By("a", 1));
  EXPECT_EQ(WithoutManagedFields(second),
            Parse(R"({"metadata": {"name": "d", "labels": {"a": "1"}}, "spec": {"replicas": 3}})"));
  const Json third =
      MustApply(&second, R"({"metadata": {"name": "d"}, "spec": {"replicas": 3}})", By("a", 2));
  EXPECT_EQ(WithoutManagedFields(third),
            Parse(R"({"metadata": {"name": "d"}, "spec": {"replicas": 3}})"))
      << "an object of which nobody owns anything goes as a whole, metadata stays";
}

TEST(Apply, WhatOthersOwnStays) {
  Json live = MustApply(
      nullptr, R"({"metadata": {"name": "d", "labels": {"mine": "1", "both": "1"}}})", By("a"));
  live = Updated(live, {"metadata", "labels", "theirs"}, "1", Writer("b", 1));
  live = MustApply(&live, R"({"metadata": {"name": "d", "labels": {"both": "1"}}})", By("c", 2));
  const Json result = MustApply(&live, R"({"metadata": {"name": "d"}})", By("a", 3));
  EXPECT_EQ(result.at("metadata").at("labels"), Parse(R"({"both": "1", "theirs": "1"})"));
  EXPECT_EQ(Owners(result), "c Apply 10:02; b Update 10:01");
}

TEST(Apply, UnappliedFieldsOfOthersAreLeftAlone) {
  const Json live = Updated(
      MustApply(nullptr, R"({"metadata": {"name": "d"}, "spec": {"paused": true}})", By("a")),
      {"spec", "replicas"}, 7, Writer("hpa", 1));
  const Json result =
      MustApply(&live, R"({"metadata": {"name": "d"}, "spec": {"paused": true}})", By("a", 2));
  EXPECT_EQ(result, live);
}

constexpr std::string_view kTwoContainers = R"({"metadata": {"name": "p"}, "spec": {"containers": [
    {"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}], "args": ["x", "y"]},
    {"name": "b", "image": "1", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]}]}})";

TEST(Apply, ListsJoinByKey) {
  const Json live = MustApply(nullptr, kTwoContainers, By("a"), Pods());
  const Json result = MustApply(&live, R"({"metadata": {"name": "p"}, "spec": {"containers": [
      {"name": "c", "image": "2"},
      {"name": "b", "ports": [{"containerPort": 80, "protocol": "TCP", "name": "http"}]}]}})",
                                By("other", 1), Pods());
  EXPECT_EQ(result.at("spec"), Parse(R"({"containers": [
    {"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}], "args": ["x", "y"]},
    {"name": "c", "image": "2"},
    {"name": "b", "image": "1", "ports": [{"containerPort": 80, "protocol": "TCP", "name": "http"},
                                          {"containerPort": 80, "protocol": "UDP"}]}]})"))
      << result.at("spec");
  EXPECT_EQ(Owned(result, "other", "Apply"),
            ".spec.containers[name=\"b\"] .spec.containers[name=\"b\"].name "
            ".spec.containers[name=\"b\"].ports[containerPort=80,protocol=\"TCP\"] "
            ".spec.containers[name=\"b\"].ports[containerPort=80,protocol=\"TCP\"].containerPort "
            ".spec.containers[name=\"b\"].ports[containerPort=80,protocol=\"TCP\"].name "
            ".spec.containers[name=\"b\"].ports[containerPort=80,protocol=\"TCP\"].protocol "
            ".spec.containers[name=\"c\"] .spec.containers[name=\"c\"].image "
            ".spec.containers[name=\"c\"].name");
}

TEST(Apply, ItemsThatAreNoLongerAppliedGo) {
  Json live = MustApply(nullptr, kTwoContainers, By("a"), Pods());
  // Defaults that nobody owns do not keep an item.
  live.at("spec").at("containers").at(0).as_object()["terminationMessagePath"] = "/dev/x";
  const Json one = MustApply(&live, R"({"metadata": {"name": "p"}, "spec": {"containers": [
      {"name": "b", "image": "1", "ports": [{"containerPort": 80}]}]}})",
                             By("a", 1), Pods());
  EXPECT_EQ(one.at("spec"), Parse(R"({"containers": [
      {"name": "b", "image": "1", "ports": [{"containerPort": 80}]}]})"));

  // An item in which somebody else owns a field stays with it.
  const Json shared = MustApply(
      &live, R"({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "tty": true}]}})",
      By("other", 1), Pods());
  const Json result = MustApply(&shared, R"({"metadata": {"name": "p"}, "spec": {"containers": [
      {"name": "b", "image": "1"}]}})",
                                By("a", 2), Pods());
  EXPECT_EQ(result.at("spec"), Parse(R"({"containers": [
      {"name": "a", "tty": true, "terminationMessagePath": "/dev/x"}, {"name": "b", "image": "1"}]})"))
      << result.at("spec");
}

TEST(Apply, AtomicListsAreReplaced) {
  const Json live = MustApply(nullptr, kTwoContainers, By("a"), Pods());
  const auto conflict = TryApply(&live, R"({"metadata": {"name": "p"}, "spec": {"containers": [
      {"name": "a", "args": ["z"]}]}})",
                                 By("b", 1), Pods());
  ASSERT_FALSE(conflict.ok());
  EXPECT_EQ(kube::AsApiError(conflict.status())->message,
            "Apply failed with 1 conflict: conflict with \"a\": .spec.containers[name=\"a\"].args");
  const Json forced = MustApply(&live, R"({"metadata": {"name": "p"}, "spec": {"containers": [
      {"name": "a", "args": ["z"]}]}})",
                                By("b", 1, true), Pods());
  EXPECT_EQ(forced.at("spec").at("containers").at(0).at("args"), Parse(R"(["z"])"));
}

TEST(Apply, FinalizersAreASet) {
  const Json first = MustApply(
      nullptr, R"({"metadata": {"name": "p", "finalizers": ["x/1", "x/2"]}})", By("a"), Pods());
  const Json second = MustApply(
      &first, R"({"metadata": {"name": "p", "finalizers": ["x/3", "x/1"]}})", By("b", 1), Pods());
  EXPECT_EQ(second.at("metadata").at("finalizers"), Parse(R"(["x/3", "x/1", "x/2"])"));
  const Json third = MustApply(&second, R"({"metadata": {"name": "p", "finalizers": ["x/2"]}})",
                               By("a", 2), Pods());
  EXPECT_EQ(third.at("metadata").at("finalizers"), Parse(R"(["x/3", "x/1", "x/2"])"))
      << "x/1 is b's now as well";
}

TEST(Apply, FieldsFromBeforeAnybodyAppliedBelongToThatTime) {
  const Json live =
      Parse(R"({"apiVersion": "apps/v1", "metadata": {"name": "d", "labels": {"a": "1"}},
      "spec": {"replicas": 3}})");
  const auto refused =
      TryApply(&live, R"({"metadata": {"name": "d"}, "spec": {"replicas": 4}})", By("a", 1));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(kube::AsApiError(refused.status())->message,
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using apps/v1 at "
            "2026-07-01T10:01:00Z: .spec.replicas");
  const Json same =
      MustApply(&live, R"({"metadata": {"name": "d"}, "spec": {"replicas": 3}})", By("a", 1));
  EXPECT_EQ(Owners(same), "a Apply 10:01; before-first-apply Update 10:01");
  EXPECT_EQ(Owned(same, "before-first-apply"),
            ".metadata.labels .metadata.labels.a .spec.replicas");
}

TEST(Apply, WhatTheEndpointResetsIsNeitherWrittenNorOwned) {
  const FieldSet status = FieldSet::Of({{"status"}});
  const Json live = Updated(MustApply(nullptr, R"({"metadata": {"name": "d"}})", By("a")),
                            {"status", "replicas"}, 1, Writer("controller", 0, "status"));
  ApplyOptions options = By("a", 1);
  options.reset = &status;
  const Json result = MustApply(
      &live, R"({"metadata": {"name": "d"}, "spec": {"replicas": 3}, "status": {"replicas": 9}})",
      options);
  EXPECT_EQ(kube::FindInt(result, {"status", "replicas"}), 1);
  EXPECT_EQ(Owned(result, "a", "Apply"), ".spec.replicas");
}

TEST(Apply, RefusesBodiesThatCannotBeApplied) {
  const struct {
    const char* body;
    const char* message;
  } kCases[] = {
      {R"([])", "expected an object to apply"},
      {R"({"metadata": {"name": "p", "managedFields": []}})", "metadata.managedFields must be nil"},
      {R"({"spec": {"containers": [{"image": "x"}]}})",
       ".spec.containers: element 0: associative list with keys has an element that omits key "
       "field "
       "\"name\""},
      {R"({"spec": {"containers": [{"name": "c", "env": [{"name": "A"}, {"value": "x"}]}]}})",
       ".spec.containers[0].env: element 1: associative list with keys has an element that omits "
       "key "
       "field \"name\""},
      {R"({"spec": {"containers": [{"name": "c"}, {"name": "c"}]}})",
       ".spec.containers: duplicate entries for key {\"name\":\"c\"}"},
  };
  for (const auto& c : kCases) {
    const auto result = TryApply(nullptr, c.body, By("a"), Pods());
    ASSERT_FALSE(result.ok()) << c.body;
    EXPECT_EQ(kube::HttpCode(result.status()), 400);
    EXPECT_EQ(kube::AsApiError(result.status())->message, c.message);
  }
}

// Client-side apply, then server-side with another value, in the steps that kubectl takes.
TEST(Apply, KubectlMigratesFromClientSideApply) {
  constexpr std::string_view kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
  constexpr std::string_view kOld =
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":3}})";
  constexpr std::string_view kNew =
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":4}})";
  Json live = Parse(kOld);
  kube::At(live, {"metadata", "annotations", kAnnotation}) = kOld;
  TrackUpdate(nullptr, live, Writer("kubectl-client-side-apply"), Deployments());

  // Another manager than kubectl conflicts with what the client-side way has set.
  EXPECT_FALSE(TryApply(&live, kNew, By("other", 1)).ok());

  const Json first = MustApply(&live, kNew, By("kubectl", 1));
  EXPECT_EQ(kube::FindInt(first, {"spec", "replicas"}), 4);
  EXPECT_EQ(Parse(kube::FindString(first, {"metadata", "annotations", kAnnotation})), Parse(kNew));

  const Json second = MustApply(
      &first,
      fmt::format(R"({{"metadata": {{"name": "d", "annotations": {{"{}": {}}}}}}})", kAnnotation,
                  kube::Serialize(first.at("metadata").at("annotations").at(kAnnotation))),
      By("kubectl-last-applied", 2));
  // The client hands what client-side apply owned to its server-side self.
  Json third = second;
  third.at("metadata").as_object()["managedFields"] = Parse(fmt::format(R"([
      {{"manager": "kubectl", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {{"f:metadata": {{"f:annotations": {{"f:{}": {{}}}}}}, "f:spec": {{"f:replicas": {{}}}}}}}},
      {{"manager": "kubectl-last-applied", "operation": "Apply", "apiVersion": "v1",
        "fieldsType": "FieldsV1", "fieldsV1": {{"f:metadata": {{"f:annotations": {{"f:{}": {{}}}}}}}}}}])",
                                                                        kAnnotation, kAnnotation));
  TrackUpdate(&second, third, Writer("kubectl", 3), Deployments());
  EXPECT_EQ(Owners(third), "kubectl Apply ; kubectl-last-applied Apply ");

  const Json fourth = MustApply(&third, kNew, By("kubectl", 4));
  EXPECT_EQ(Owned(fourth, "kubectl", "Apply"), ".spec.replicas");
  EXPECT_EQ(Owned(fourth, "kubectl-client-side-apply"), "none");
  EXPECT_FALSE(kube::FindString(fourth, {"metadata", "annotations", kAnnotation}).empty())
      << "kubectl-last-applied keeps it";
}

// What somebody changed since is not forgiven.
TEST(Apply, KubectlConflictsWithChangesSinceClientSideApply) {
  constexpr std::string_view kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
  constexpr std::string_view kOld = R"({"metadata":{"name":"d"},"spec":{"replicas":3}})";
  Json live = Parse(kOld);
  kube::At(live, {"metadata", "annotations", kAnnotation}) = kOld;
  TrackUpdate(nullptr, live, Writer("kubectl-client-side-apply"), Deployments());
  live = Updated(live, {"spec", "replicas"}, 7, Writer("hpa", 1));
  const auto refused =
      TryApply(&live, R"({"metadata":{"name":"d"},"spec":{"replicas":4}})", By("kubectl", 2));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(kube::AsApiError(refused.status())->message.find("\"hpa\""), std::string::npos);
}

}  // namespace
}  // namespace koord::apiserver::apply_test
