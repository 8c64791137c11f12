#include "localcluster/apiserver/openapi/openapi.h"

#include <gtest/gtest.h>

#include <set>

#include "localcluster/apiserver/openapi/protobuf.h"
#include "localcluster/apiserver/registry/registry.h"
#include "localcluster/apiserver/registry/registry_testing.h"

namespace koord::apiserver::openapi_test {
namespace {

using kube::Json;
namespace json = kube::json;

ResourceInfoPtr Custom(std::string_view schema, std::string_view version = "v1alpha1") {
  auto info = std::make_shared<ResourceInfo>();
  info->resource = {"scheduling.koordinator.sh", std::string(version), "widgets", "Widget", false};
  info->verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  info->custom = true;
  info->schema = Parse(schema);
  return info;
}

constexpr std::string_view kWidgetSchema =
    R"({"type": "object", "description": "A widget.", "required": ["spec"],
    "properties": {
      "metadata": {"type": "object"},
      "spec": {"type": "object", "properties": {
        "replicas": {"type": "integer", "format": "int32", "minimum": 1, "default": 1},
        "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "maybe": {"type": "string", "nullable": true},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "string"}}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "any": {"type": "object", "additionalProperties": true},
        "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
                  "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "string"}}}}}}}})";

std::vector<ResourceInfoPtr> Everything() {
  auto all = BuiltinResources();
  all.push_back(Custom(kWidgetSchema));
  return all;
}

Json V2() {
  static const Json document = [] {
    OpenApi open_api(Everything);
    return Parse(open_api.V2Json().body);
  }();
  return document;
}

Json V3(std::string_view path) {
  OpenApi open_api(Everything);
  const auto* document = open_api.V3(path);
  EXPECT_NE(document, nullptr) << path;
  return document == nullptr ? Json() : Parse(document->body);
}

void CollectReferences(const Json& value, std::set<std::string>& references) {
  if (const auto* array = value.if_array()) {
    for (const Json& item : *array) CollectReferences(item, references);
  } else if (const auto* object = value.if_object()) {
    for (const auto& member : *object) {
      if (member.key() == "$ref" && member.value().is_string()) {
        references.emplace(kube::FindString(member.value(), {}));
      } else {
        CollectReferences(member.value(), references);
      }
    }
  }
}

void ExpectReferencesResolve(const Json& document, std::string_view place, const json::object& in) {
  std::set<std::string> references;
  CollectReferences(document, references);
  for (const std::string& reference : references) {
    ASSERT_TRUE(reference.starts_with(place)) << reference;
    EXPECT_TRUE(in.contains(reference.substr(place.size()))) << reference;
  }
}

TEST(OpenApiV2, DescribesBuiltinKinds) {
  const Json document = V2();
  EXPECT_EQ(document.at("swagger"), "2.0");
  const json::object& definitions = document.at("definitions").as_object();
  ExpectReferencesResolve(document, "#/definitions/", definitions);

  const Json& pod = definitions.at("io.k8s.api.core.v1.Pod");
  EXPECT_EQ(pod.at("type"), "object");
  EXPECT_EQ(pod.at("x-kubernetes-group-version-kind"),
            Parse(R"([{"group": "", "kind": "Pod", "version": "v1"}])"));
  EXPECT_EQ(kube::FindString(pod, {"properties", "spec", "$ref"}),
            "#/definitions/io.k8s.api.core.v1.PodSpec");

  const Json& spec = definitions.at("io.k8s.api.core.v1.PodSpec");
  EXPECT_EQ(spec.at("required"), Parse(R"(["containers"])"));
  const Json& containers = spec.at("properties").at("containers");
  EXPECT_EQ(containers.at("type"), "array");
  EXPECT_EQ(containers.at("items"),
            Parse(R"({"$ref": "#/definitions/io.k8s.api.core.v1.Container"})"));
  EXPECT_EQ(containers.at("x-kubernetes-patch-strategy"), "merge");
  EXPECT_EQ(containers.at("x-kubernetes-patch-merge-key"), "name");
  EXPECT_EQ(containers.at("x-kubernetes-list-type"), "map");
  EXPECT_EQ(containers.at("x-kubernetes-list-map-keys"), Parse(R"(["name"])"));
  EXPECT_EQ(spec.at("properties").at("volumes").at("x-kubernetes-patch-strategy"),
            "merge,retainKeys");
  EXPECT_EQ(spec.at("properties").at("tolerations").at("x-kubernetes-list-type"), "atomic");

  EXPECT_EQ(definitions.at("io.k8s.apimachinery.pkg.api.resource.Quantity").at("type"), "string");
  EXPECT_EQ(definitions.at("io.k8s.apimachinery.pkg.util.intstr.IntOrString").at("format"),
            "int-or-string");
  EXPECT_EQ(definitions.at("io.k8s.apimachinery.pkg.apis.meta.v1.Time").at("format"), "date-time");
  EXPECT_EQ(definitions.at("io.k8s.api.policy.v1.Eviction").at("x-kubernetes-group-version-kind"),
            Parse(R"([{"group": "policy", "kind": "Eviction", "version": "v1"}])"))
      << "subresources speak of kinds of their own";
}

// Clients of v2 know of no nulls, unions or unknown fields: such places are left open.
TEST(OpenApiV2, DescribesCustomKindsAsFarAsItCan) {
  const Json widget = V2().at("definitions").at("sh.koordinator.scheduling.v1alpha1.Widget");
  EXPECT_EQ(widget.at("description"), "A widget.");
  EXPECT_EQ(widget.at("required"), Parse(R"(["spec"])"));
  EXPECT_EQ(
      widget.at("x-kubernetes-group-version-kind"),
      Parse(
          R"([{"group": "scheduling.koordinator.sh", "kind": "Widget", "version": "v1alpha1"}])"));
  EXPECT_EQ(kube::FindString(widget, {"properties", "metadata", "$ref"}),
            "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  EXPECT_EQ(kube::FindString(widget, {"properties", "kind", "type"}), "string");
  EXPECT_EQ(widget.at("properties").at("spec"), Parse(R"({"type": "object", "properties": {
      "replicas": {"type": "integer", "format": "int32"},
      "port": {}, "maybe": {},
      "free": {"x-kubernetes-preserve-unknown-fields": true},
      "labels": {"type": "object", "additionalProperties": {"type": "string"}},
      "any": {"type": "object"},
      "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
                "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "string"}}}}}})"));
}

const Json* PatchOf(const Json& document, std::string_view path) {
  return kube::Find(document, {"paths", path, "patch"});
}

bool HasParameter(const Json& operation, std::string_view name) {
  for (const Json& parameter : operation.at("parameters").as_array()) {
    if (kube::FindString(parameter, {"name"}) == name &&
        kube::FindString(parameter, {"in"}) == "query") {
      return true;
    }
  }
  return false;
}

TEST(OpenApiV2, PatchesTellOfFieldValidation) {
  const Json document = V2();
  const Json* patch = PatchOf(document, "/api/v1/namespaces/{namespace}/pods/{name}");
  ASSERT_NE(patch, nullptr);
  EXPECT_TRUE(HasParameter(*patch, "fieldValidation"));
  EXPECT_EQ(patch->at("x-kubernetes-group-version-kind"),
            Parse(R"({"group": "", "kind": "Pod", "version": "v1"})"));
}

TEST(OpenApiV3, IndexNamesEveryGroupVersion) {
  OpenApi open_api(Everything);
  const Json index = Parse(open_api.V3Index().body);
  const json::object& paths = index.at("paths").as_object();
  for (const char* path : {"api/v1", "apis/apps/v1", "apis/scheduling.koordinator.sh/v1alpha1"}) {
    ASSERT_TRUE(paths.contains(path)) << path;
    const std::string url = open_api.V3Url(path);
    EXPECT_EQ(kube::FindString(paths.at(path), {"serverRelativeURL"}), url);
    EXPECT_EQ(url, fmt::format("/openapi/v3/{}?hash={}", path, open_api.V3(path)->etag));
  }
  EXPECT_EQ(open_api.V3("apis/nothing/v1"), nullptr);
  EXPECT_EQ(open_api.V3Url("apis/nothing/v1"), "");
}

TEST(OpenApiV3, EveryDocumentIsComplete) {
  OpenApi open_api(Everything);
  const Json index = Parse(open_api.V3Index().body);
  for (const auto& path : index.at("paths").as_object()) {
    const Json document = V3(path.key());
    EXPECT_EQ(document.at("openapi"), "3.0.0");
    ExpectReferencesResolve(document, "#/components/schemas/",
                            document.at("components").at("schemas").as_object());
  }
}

TEST(OpenApiV3, OperationsOfNamespacedAndClusterResources) {
  const Json document = V3("api/v1");
  const json::object& paths = document.at("paths").as_object();
  EXPECT_TRUE(paths.contains("/api/v1/pods"));
  EXPECT_TRUE(paths.contains("/api/v1/namespaces/{namespace}/pods"));
  EXPECT_TRUE(paths.contains("/api/v1/nodes/{name}"));
  EXPECT_FALSE(paths.contains("/api/v1/namespaces/{namespace}/nodes"));
  const Json kPod = Parse(R"({"group": "", "kind": "Pod", "version": "v1"})");
  EXPECT_EQ(kube::Find(document, {"paths", "/api/v1/pods", "post"}), nullptr)
      << "pods are created in a namespace";
  EXPECT_EQ(*kube::Find(document, {"paths", "/api/v1/namespaces/{namespace}/pods", "get",
                                   "x-kubernetes-group-version-kind"}),
            kPod);

  const Json* patch = PatchOf(document, "/api/v1/namespaces/{namespace}/pods/{name}");
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(patch->at("x-kubernetes-group-version-kind"), kPod);
  for (const char* name : {"fieldValidation", "fieldManager", "dryRun", "force"}) {
    EXPECT_TRUE(HasParameter(*patch, name)) << name;
  }
  EXPECT_EQ(patch->at("parameters").at(0).at("schema").at("type"), "string");
  const json::object& content = patch->at("requestBody").at("content").as_object();
  EXPECT_TRUE(content.contains("application/strategic-merge-patch+json"));
  EXPECT_TRUE(content.contains("application/apply-patch+yaml"));
  EXPECT_EQ(PatchOf(document, "/api/v1/namespaces/{namespace}/bindings/{name}"), nullptr)
      << "bindings can only be created";
}

TEST(OpenApiV3, CustomResourcesAsTheirDefinitionsHaveThem) {
  const Json document = V3("apis/scheduling.koordinator.sh/v1alpha1");
  const Json* widget =
      kube::Find(document, {"components", "schemas", "sh.koordinator.scheduling.v1alpha1.Widget"});
  ASSERT_NE(widget, nullptr);
  EXPECT_EQ(widget->at("properties").at("spec"), Parse(kWidgetSchema).at("properties").at("spec"));
  EXPECT_EQ(kube::FindString(*widget, {"properties", "metadata", "$ref"}),
            "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  const Json* patch = PatchOf(document, "/apis/scheduling.koordinator.sh/v1alpha1/widgets/{name}");
  ASSERT_NE(patch, nullptr);
  EXPECT_TRUE(HasParameter(*patch, "fieldValidation"));
  EXPECT_FALSE(patch->at("requestBody")
                   .at("content")
                   .as_object()
                   .contains("application/strategic-merge-patch+json"));
}

TEST(OpenApiV3, NothingStandsBesideAReference) {
  const Json document = V3("apis/apps/v1");
  const Json* strategy = kube::Find(
      document,
      {"components", "schemas", "io.k8s.api.apps.v1.DeploymentSpec", "properties", "strategy"});
  ASSERT_NE(strategy, nullptr);
  EXPECT_EQ(kube::Find(*strategy, {"$ref"}), nullptr);
  EXPECT_EQ(strategy->at("allOf"),
            Parse(R"([{"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy"}])"));
  EXPECT_EQ(strategy->at("x-kubernetes-patch-strategy"), "retainKeys");
}

TEST(OpenApi, IsKeptUntilResourcesChange) {
  std::vector<ResourceInfoPtr> resources = Everything();
  int listed = 0;
  OpenApi open_api([&] {
    ++listed;
    return resources;
  });
  EXPECT_EQ(listed, 0) << "nothing is made before it is asked for";
  const std::string core = open_api.V3("api/v1")->etag;
  const std::string widgets = open_api.V3("apis/scheduling.koordinator.sh/v1alpha1")->etag;
  const std::string all = open_api.V2Json().etag;
  const std::string index = open_api.V3Index().etag;
  const int after_first = listed;
  EXPECT_EQ(open_api.V2Json().etag, all);
  open_api.V3Index();
  EXPECT_EQ(listed, after_first);

  resources.back() = Custom(R"({"type": "object", "properties": {"spec": {"type": "string"}}})");
  EXPECT_EQ(open_api.V3Index().etag, index);
  open_api.Invalidate();
  EXPECT_EQ(open_api.V3("api/v1")->etag, core);
  EXPECT_NE(open_api.V3("apis/scheduling.koordinator.sh/v1alpha1")->etag, widgets);
  EXPECT_NE(open_api.V2Json().etag, all);
  EXPECT_NE(open_api.V3Index().etag, index);
  EXPECT_NE(
      open_api.V3Index().body.find(open_api.V3("apis/scheduling.koordinator.sh/v1alpha1")->etag),
      std::string::npos);

  resources.pop_back();
  open_api.Invalidate();
  EXPECT_EQ(open_api.V3("apis/scheduling.koordinator.sh/v1alpha1"), nullptr);
}

// Reads protobuf's wire format as far as these messages use it.
class Wire {
 public:
  explicit Wire(std::string_view bytes) : bytes_(bytes) {}

  // The contents of all length-delimited fields of that number.
  std::vector<std::string_view> All(uint32_t number) const {
    std::vector<std::string_view> found;
    size_t at = 0;
    while (at < bytes_.size()) {
      const uint64_t tag = Varint(at);
      if ((tag & 7) == 0) {
        Varint(at);
        continue;
      }
      EXPECT_EQ(tag & 7, 2u);
      const uint64_t size = Varint(at);
      if (at + size > bytes_.size()) {
        ADD_FAILURE() << "a field ends beyond its message";
        return found;
      }
      if (tag >> 3 == number) found.push_back(bytes_.substr(at, size));
      at += size;
    }
    return found;
  }
  std::string_view One(uint32_t number) const {
    const auto all = All(number);
    EXPECT_EQ(all.size(), 1u) << "field " << number;
    return all.empty() ? std::string_view() : all.front();
  }
  // In a list of named messages (name 1, value 2).
  std::string_view Find(uint32_t number, std::string_view name) const {
    for (const std::string_view each : All(number)) {
      if (Wire(each).One(1) == name) return Wire(each).One(2);
    }
    ADD_FAILURE() << "no " << name;
    return {};
  }

 private:
  uint64_t Varint(size_t& at) const {
    uint64_t value = 0;
    for (int shift = 0; at < bytes_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at++]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }

  std::string_view bytes_;
};

TEST(OpenApiProtobuf, SaysWhatTheJsonSays) {
  OpenApi open_api(Everything);
  const Wire document(open_api.V2Protobuf().body);
  EXPECT_EQ(document.One(1), "2.0");
  EXPECT_EQ(Wire(document.One(2)).One(1), "Kubernetes");
  const Wire definitions(document.One(9));
  EXPECT_EQ(definitions.All(1).size(), V2().at("definitions").as_object().size());

  const Wire spec(definitions.Find(1, "io.k8s.api.core.v1.PodSpec"));
  EXPECT_EQ(spec.One(19), "containers");
  EXPECT_EQ(Wire(spec.One(22)).One(1), "object");
  const Wire containers(Wire(spec.One(25)).Find(1, "containers"));
  EXPECT_EQ(Wire(containers.One(22)).One(1), "array");
  EXPECT_EQ(Wire(Wire(containers.One(23)).One(1)).One(1),
            "#/definitions/io.k8s.api.core.v1.Container");
  EXPECT_EQ(Wire(containers.Find(31, "x-kubernetes-patch-merge-key")).One(2), "\"name\"");

  const Wire pod(definitions.Find(1, "io.k8s.api.core.v1.Pod"));
  EXPECT_EQ(Wire(pod.Find(31, "x-kubernetes-group-version-kind")).One(2),
            R"([{"group":"","kind":"Pod","version":"v1"}])");

  const Wire meta(definitions.Find(1, "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
  const Wire labels(Wire(meta.One(25)).Find(1, "labels"));
  EXPECT_EQ(Wire(Wire(Wire(labels.One(21)).One(1)).One(22)).One(1), "string");
}

TEST(OpenApiProtobuf, PatchesTellOfFieldValidation) {
  OpenApi open_api(Everything);
  const Wire document(open_api.V2Protobuf().body);
  const Wire item(Wire(document.One(8)).Find(2, "/api/v1/namespaces/{namespace}/pods/{name}"));
  const Wire patch(item.One(8));
  EXPECT_EQ(Wire(patch.Find(13, "x-kubernetes-group-version-kind")).One(2),
            R"({"group":"","kind":"Pod","version":"v1"})");
  bool found = false;
  for (const std::string_view parameter : patch.All(8)) {
    const Wire query(Wire(Wire(Wire(parameter).One(1)).One(2)).One(3));
    found = found || query.One(4) == "fieldValidation";
  }
  EXPECT_TRUE(found);
}

TEST(OpenApiProtobuf, TheLeastThatKubectlAccepts) {
  const std::string bytes = EncodeOpenApiV2(
      Parse(R"({"swagger": "2.0", "info": {"title": "t", "version": "v"}, "paths": {}})"));
  EXPECT_EQ(bytes, std::string("\x0a\x03"
                               "2.0"
                               "\x12\x06\x0a\x01t\x12\x01v"
                               "\x42\x00",
                               15));
}

}  // namespace
}  // namespace koord::apiserver::openapi_test
