#include <gmock/gmock.h>

#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::custom_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kDefinitions[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr char kWidgets[] = "/apis/ex.io/v1/namespaces/default/widgets";

kube::Json Definition() {
  return Parse(R"({
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.ex.io"},
    "spec": {
      "group": "ex.io", "scope": "Namespaced",
      "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
      "versions": [{
        "name": "v1", "served": true, "storage": true,
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
                                                 "statusReplicasPath": ".status.replicas"}},
        "selectableFields": [{"jsonPath": ".spec.mode"}],
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
          "spec": {"type": "object", "properties": {
            "replicas": {"type": "integer", "default": 1},
            "mode": {"type": "string", "enum": ["a", "b"]}}},
          "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}}}}}
      }]
    }})");
}

kube::Json Widget(std::string_view name, std::string_view spec = "{}") {
  return kube::json::object{{"apiVersion", "ex.io/v1"},
                            {"kind", "Widget"},
                            {"metadata", kube::json::object{{"name", name}}},
                            {"spec", Parse(spec)}};
}

class CustomTest : public testing::Test {
 protected:
  void SetUp() override {
    TestAnswer created = server.Post(kDefinitions, Definition());
    ASSERT_EQ(created.code, 201) << created.body;
  }
  std::string At(std::string_view name) { return std::string(kWidgets) + "/" + std::string(name); }
  TestServer server;
};

TEST_F(CustomTest, IsServedFromTheMomentItIsDefined) {
  TestAnswer crd = server.Get(std::string(kDefinitions) + "/widgets.ex.io");
  std::map<std::string, std::string> conditions;
  for (const kube::Json& condition : crd.json.at("status").at("conditions").as_array()) {
    conditions.emplace(kube::FindString(condition, {"type"}),
                       kube::FindString(condition, {"status"}));
  }
  EXPECT_EQ(conditions["NamesAccepted"], "True");
  EXPECT_EQ(conditions["Established"], "True");
  EXPECT_EQ(crd.String({"status", "acceptedNames", "singular"}), "widget");
  EXPECT_EQ(crd.json.at("status").at("storedVersions"), kube::Json(kube::json::array{"v1"}));
  EXPECT_EQ(server.Get("/apis/ex.io/v1").String({"groupVersion"}), "ex.io/v1");
  EXPECT_EQ(server.Get(kWidgets).String({"kind"}), "WidgetList");
}

TEST_F(CustomTest, HasToSayWhatItIs) {
  struct Case {
    std::string body;
    int code;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{
           {R"({"metadata": {"name": "w"}})", 400,
            "the object provided is unrecognized (must be of type Widget): Object 'Kind' is "
            R"(missing in '{"metadata": {"name": "w"}}' ({"metadata": {"name": "w"}}))"},
           {R"({"apiVersion": "ex.io/v1", "kind": "", "metadata": {"name": "w"}})", 400,
            "the object provided is unrecognized (must be of type Widget): Object 'Kind' is "
            "missing "
            R"(in '{"apiVersion": "ex.io/v1", "kind": "", "metadata": {"name": "w"}}' )"
            R"(({"apiVersion": "ex.io/v1", "ki ...))"},
           {R"({"kind": "Widget", "metadata": {"name": "w"}})", 400,
            "the API version in the data () does not match the expected API version (ex.io/v1)"},
           {R"({"apiVersion": "v1", "kind": "Widget", "metadata": {"name": "w"}})", 400,
            "the API version in the data (v1) does not match the expected API version (ex.io/v1)"},
           {R"({"apiVersion": "ex.io/v1", "kind": "Gadget", "metadata": {"name": "w"}})", 422,
            R"(Gadget.ex.io "w" is invalid: kind: Invalid value: "Gadget": must be Widget)"}}) {
    for (const bool create : {true, false}) {
      const TestAnswer answer =
          create ? server.Send("POST", kWidgets, c.body) : server.Send("PUT", At("w"), c.body);
      EXPECT_EQ(answer.code, c.code) << c.body;
      EXPECT_EQ(answer.message(), c.message);
    }
  }
  EXPECT_EQ(
      server.Send("POST", kWidgets, "metadata: {name: w}\n", "application/yaml").message(),
      "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing "
      "in 'metadata: {name: w}\n' (6d657461646174613a207b6e616d653a20777d0a)");
}

TEST_F(CustomTest, AppliedConfigurationsHaveToSayWhatTheyAre) {
  for (const auto& [body, message] : std::map<std::string, std::string>{
           {"metadata: {name: w}", "invalid object type: /, Kind="},
           {"{kind: Widget, metadata: {name: w}}", "invalid object type: /, Kind=Widget"},
           {"{apiVersion: ex.io/v1, metadata: {name: w}}", "invalid object type: ex.io/v1, Kind="},
           {"{apiVersion: v1, metadata: {name: w}}", "invalid object type: /v1, Kind="}}) {
    const TestAnswer answer =
        server.Send("PATCH", At("w") + "?fieldManager=m", body, "application/apply-patch+yaml");
    EXPECT_EQ(answer.code, 400) << body;
    EXPECT_EQ(answer.message(), message);
  }
}

TEST_F(CustomTest, PrunesDefaultsAndValidates) {
  TestAnswer bad = server.Post(kWidgets, Widget("w", R"({"mode":"z","foo":1})"));
  EXPECT_EQ(bad.code, 422);
  EXPECT_THAT(std::string(bad.message()),
              HasSubstr("Widget.ex.io \"w\" is invalid: spec.mode: Unsupported value: \"z\": "
                        "supported values: \"a\", \"b\""));
  EXPECT_EQ(bad.String({"details", "group"}), "ex.io");
  EXPECT_EQ(bad.String({"details", "kind"}), "Widget");
  EXPECT_THAT(bad.warnings(), ElementsAre(R"(299 - "unknown field \"spec.foo\"")"));

  TestAnswer created = server.Post(kWidgets, Widget("w"));
  ASSERT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.json.at("spec"), Parse(R"({"replicas":1})"));
  EXPECT_EQ(kube::FindInt(created.json, {"metadata", "generation"}), 1);
  TestAnswer list = server.Get(kWidgets);
  EXPECT_EQ(kube::FindString(list.json.at("items").at(0), {"kind"}), "Widget");
  EXPECT_EQ(
      server.Post(std::string(kWidgets) + "?fieldValidation=Strict", Widget("x", R"({"foo":1})"))
          .message(),
      "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown "
      "field \"spec.foo\"");
}

TEST_F(CustomTest, StatusAndGeneration) {
  server.Post(kWidgets, Widget("w"));
  TestAnswer main =
      server.MergePatch(At("w"), Parse(R"({"spec":{"mode":"a"},"status":{"replicas":3}})"));
  EXPECT_EQ(kube::FindInt(main.json, {"metadata", "generation"}), 2);
  EXPECT_EQ(kube::Find(main.json, {"status"}), nullptr);
  TestAnswer status = server.MergePatch(
      At("w") + "/status",
      Parse(R"({"metadata":{"labels":{"l":"1"}},"spec":{"mode":"b"},"status":{"replicas":3}})"));
  EXPECT_EQ(kube::FindInt(status.json, {"metadata", "generation"}), 2);
  EXPECT_EQ(kube::FindInt(status.json, {"status", "replicas"}), 3);
  EXPECT_EQ(status.String({"spec", "mode"}), "a");
  EXPECT_EQ(kube::Find(status.json, {"metadata", "labels"}), nullptr);
  TestAnswer labelled = server.MergePatch(At("w"), Parse(R"({"metadata":{"labels":{"l":"1"}}})"));
  EXPECT_EQ(kube::FindInt(labelled.json, {"metadata", "generation"}), 2);
  EXPECT_EQ(server.Get(At("w") + "/scale").json.at("spec"), Parse(R"({"replicas":1})"));
  server.MergePatch(At("w") + "/scale", Parse(R"({"spec":{"replicas":4}})"));
  EXPECT_EQ(kube::FindInt(server.Get(At("w")).json, {"spec", "replicas"}), 4);
}

TEST_F(CustomTest, PutNeedsAVersionAndStrategicPatchIsRefused) {
  server.Post(kWidgets, Widget("w"));
  TestAnswer put = server.Put(At("w"), Widget("w"));
  EXPECT_EQ(put.code, 422);
  EXPECT_THAT(std::string(put.message()),
              HasSubstr("metadata.resourceVersion: Invalid value: 0: must be specified for an "
                        "update"));
  TestAnswer strategic =
      server.Send("PATCH", At("w"), "{}", "application/strategic-merge-patch+json");
  EXPECT_EQ(strategic.code, 415);
  EXPECT_EQ(strategic.message(),
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml");
}

TEST_F(CustomTest, FinalizersAndGeneration) {
  kube::Json widget = Widget("w");
  kube::At(widget, {"metadata", "finalizers"}) = kube::json::array{"x.io/f"};
  server.Post(kWidgets, widget);
  auto watch = server.Watch(std::string(kWidgets) +
                            "?watch=1&resourceVersion=" + std::to_string(server.store->revision()));
  TestAnswer deleted = server.Delete(At("w"));
  EXPECT_EQ(kube::FindInt(deleted.json, {"metadata", "generation"}), 2);
  server.MergePatch(At("w"), Parse(R"({"metadata":{"finalizers":null}})"));
  EXPECT_THAT(watch->TakeEventNames(), ElementsAre("MODIFIED w", "DELETED w"));
  TestAnswer status = server.Post(kWidgets, Widget("v"));
  TestAnswer gone = server.Delete(At("v"));
  EXPECT_EQ(gone.json.at("details"),
            kube::Json(kube::json::object{{"name", "v"},
                                          {"group", "ex.io"},
                                          {"kind", "widgets"},
                                          {"uid", status.String({"metadata", "uid"})}}));
}

TEST_F(CustomTest, SelectsByDeclaredFields) {
  server.Post(kWidgets, Widget("a", R"({"mode":"a"})"));
  server.Post(kWidgets, Widget("b", R"({"mode":"b"})"));
  TestAnswer list = server.Get(std::string(kWidgets) + "?fieldSelector=spec.mode%3Db");
  ASSERT_EQ(list.code, 200) << list.body;
  ASSERT_EQ(list.json.at("items").as_array().size(), 1u);
  EXPECT_EQ(kube::FindString(list.json.at("items").at(0), {"metadata", "name"}), "b");
  EXPECT_EQ(server.Get(std::string(kWidgets) + "?fieldSelector=spec.x%3Db").message(),
            "field label not supported: spec.x");
}

TEST_F(CustomTest, NewDefaultsShowUpInOldObjects) {
  server.Post(kWidgets, Widget("old"));
  kube::Json crd = server.Get(std::string(kDefinitions) + "/widgets.ex.io").json;
  crd.at("spec")
      .at("versions")
      .at(0)
      .at("schema")
      .at("openAPIV3Schema")
      .at("properties")
      .at("spec")
      .at("properties")
      .as_object()["size"] = Parse(R"({"type":"integer","default":7})");
  TestAnswer updated = server.Put(std::string(kDefinitions) + "/widgets.ex.io", crd);
  ASSERT_EQ(updated.code, 200) << updated.body;
  EXPECT_EQ(kube::FindInt(updated.json, {"metadata", "generation"}), 2);
  EXPECT_EQ(kube::FindInt(server.Get(At("old")).json, {"spec", "size"}), 7);
  EXPECT_EQ(kube::FindInt(server.Get(kWidgets).json.at("items").at(0), {"spec", "size"}), 7);
}

TEST_F(CustomTest, DeletingTheDefinitionDeletesItsObjectsFirst) {
  kube::Json held = Widget("held");
  kube::At(held, {"metadata", "finalizers"}) = kube::json::array{"x.io/f"};
  server.Post(kWidgets, held);
  server.Post(kWidgets, Widget("free"));
  auto watch = server.Watch(std::string(kWidgets) +
                            "?watch=1&resourceVersion=" + std::to_string(server.store->revision()));
  const std::string definition = std::string(kDefinitions) + "/widgets.ex.io";
  TestAnswer deleted = server.Delete(definition);
  ASSERT_EQ(deleted.code, 200) << deleted.body;
  EXPECT_EQ(deleted.json.at("metadata").at("finalizers"),
            kube::Json(kube::json::array{"customresourcecleanup.apiextensions.k8s.io"}));
  EXPECT_EQ(server.Get(At("free")).code, 404);
  EXPECT_EQ(server.Get(definition).code, 200);
  EXPECT_EQ(server.Post(kWidgets, Widget("late")).code, 405);
  server.MergePatch(At("held"), Parse(R"({"metadata":{"finalizers":null}})"));
  EXPECT_EQ(server.Get(definition).code, 404);
  EXPECT_EQ(server.Get(kWidgets).body, "404 page not found\n");
  EXPECT_EQ(server.Get("/apis/ex.io").code, 404);
  EXPECT_TRUE(watch->ended);
  EXPECT_EQ(server.Post(kDefinitions, Definition()).code, 201);
  EXPECT_EQ(server.Post(kWidgets, Widget("again")).code, 201);
}

TEST(CustomRestartTest, DefinitionsComeBackWithTheStore) {
  TestServer first;
  first.Post(kDefinitions, Definition());
  first.Post(kWidgets, Widget("w"));
  first.server = std::make_unique<ApiServer>(first.loop, *first.store, ApiServer::Options{});
  EXPECT_EQ(first.Get(std::string(kWidgets) + "/w").code, 200);
}

}  // namespace
}  // namespace koord::apiserver::custom_test
