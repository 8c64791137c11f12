#include "localcluster/apiserver/crd/definition.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "kube/time.h"
#include "localcluster/apiserver/registry/registry_testing.h"

namespace koord::apiserver::definition_test {
namespace {

using kube::Json;
namespace json = kube::json;

constexpr std::string_view kSchema =
    R"({"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
          "replicas": {"type": "integer"}, "color": {"type": "string"}, "tags": {"type": "object"}}},
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}}}}})";

// A definition as a user would write it, with one version.
Json Widgets(std::string_view version_extras = "") {
  return Parse(fmt::format(
      R"({{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
           "metadata": {{"name": "widgets.example.com"}},
           "spec": {{"group": "example.com", "scope": "Namespaced",
                    "names": {{"plural": "widgets", "kind": "Widget", "shortNames": ["wd"],
                              "categories": ["all"]}},
                    "versions": [{{"name": "v1", "served": true, "storage": true, "schema": {}{}}}]}}}})",
      kSchema, version_extras));
}

Json Defaulted(Json crd) {
  DefaultDefinition(crd);
  return crd;
}

// Sets a member by path ("spec.names.kind") to a JSON value.
Json With(Json crd, std::string_view path, std::string_view value) {
  Json* at = &crd;
  for (const std::string_view step : Split(path, '.')) {
    const auto index = ParseUint(step);
    at = index ? &at->as_array().at(*index) : &kube::At(*at, {step});
  }
  *at = Parse(value);
  return crd;
}

TEST(Definition, DefaultsNamesAndConversion) {
  const Json crd = Defaulted(Widgets());
  EXPECT_EQ(kube::FindString(crd, {"spec", "names", "singular"}), "widget");
  EXPECT_EQ(kube::FindString(crd, {"spec", "names", "listKind"}), "WidgetList");
  EXPECT_EQ(kube::FindString(crd, {"spec", "conversion", "strategy"}), "None");

  Json own = With(Widgets(), "spec.names.singular", R"("wdg")");
  DefaultDefinition(own);
  EXPECT_EQ(kube::FindString(own, {"spec", "names", "singular"}), "wdg");
}

TEST(Definition, AcceptsAWellFormedOne) {
  EXPECT_EQ(ErrorsText(ValidateDefinition(Defaulted(Widgets()))), "");
}

TEST(Definition, RefusesWhatCannotBeServed) {
  const struct {
    const char* name;
    const char* path;
    const char* value;
    const char* errors;
  } kCases[] = {
      {"name does not follow from the names", "metadata.name", R"("w.example.com")",
       R"(metadata.name: Invalid value: "w.example.com": must be spec.names.plural+"."+spec.group)"},
      {"no scope", "spec.scope", "null", "spec.scope: Required value"},
      {"unknown scope", "spec.scope", R"("Global")",
       R"(spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced")"},
      {"no kind", "spec.names.kind", R"("")", "spec.names.kind: Required value"},
      {"kind with a space", "spec.names.kind", R"("My Widget")",
       "spec.names.kind: Invalid value: \"My Widget\": may have mixed case, but should otherwise "
       "match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
       "with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
       "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"},
      {"list kind equals kind", "spec.names.listKind", R"("Widget")",
       R"(spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same)"},
      {"unknown fields for all", "spec.preserveUnknownFields", "true",
       "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
       "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"},
      {"conversion by webhook", "spec.conversion.strategy", R"("Webhook")",
       R"(spec.conversion.strategy: Unsupported value: "Webhook": supported values: "None")"},
      {"no versions", "spec.versions", "[]",
       "spec.versions: Required value: must have at least one version"},
      {"no storage version", "spec.versions.0.storage", "false",
       R"(spec.versions: Invalid value: ["v1"]: must have exactly one version marked as storage version)"},
      {"no schema", "spec.versions.0.schema", "null",
       "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required"},
      {"schema that is not structural", "spec.versions.0.schema.openAPIV3Schema",
       R"({"properties": {}})",
       "spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the "
       "root"},
      {"column without path", "spec.versions.0.additionalPrinterColumns",
       R"([{"name": "A", "type": "string"}])",
       "spec.versions[0].additionalPrinterColumns[0].jsonPath: Required value"},
      {"column of an unknown type", "spec.versions.0.additionalPrinterColumns",
       R"([{"name": "A", "type": "money", "jsonPath": ".spec.x"}])",
       R"(spec.versions[0].additionalPrinterColumns[0].type: Unsupported value: "money": supported values: "boolean", "date", "integer", "number", "string")"},
      {"column with a bad path", "spec.versions.0.additionalPrinterColumns",
       R"([{"name": "A", "type": "string", "jsonPath": ".spec["}])",
       R"(spec.versions[0].additionalPrinterColumns[0].jsonPath: Invalid value: ".spec[": invalid JSONPath ".spec[": unterminated '[')"},
      {"scale path elsewhere", "spec.versions.0.subresources.scale",
       R"({"specReplicasPath": ".status.replicas", "statusReplicasPath": ".status.replicas"})",
       R"(spec.versions[0].subresources.scale.specReplicasPath: Invalid value: ".status.replicas": should be a json path under .spec.)"},
      {"scale path into a list", "spec.versions.0.subresources.scale",
       R"({"specReplicasPath": ".spec.list[0]", "statusReplicasPath": ".status.replicas"})",
       R"(spec.versions[0].subresources.scale.specReplicasPath: Invalid value: ".spec.list[0]": must be a simple json path without array notation)"},
      {"scale without status path", "spec.versions.0.subresources.scale",
       R"({"specReplicasPath": ".spec.replicas"})",
       "spec.versions[0].subresources.scale.statusReplicasPath: Required value"},
      {"selectable field unknown", "spec.versions.0.selectableFields",
       R"([{"jsonPath": ".spec.x"}])",
       R"(spec.versions[0].selectableFields[0].jsonPath: Invalid value: ".spec.x": must point to a field that the schema specifies)"},
      {"selectable object", "spec.versions.0.selectableFields", R"([{"jsonPath": ".spec.tags"}])",
       R"(spec.versions[0].selectableFields[0].jsonPath: Invalid value: ".spec.tags": must point to a field of type string, boolean or integer)"},
      {"selectable twice", "spec.versions.0.selectableFields",
       R"([{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.color"}])",
       R"(spec.versions[0].selectableFields[1].jsonPath: Duplicate value: ".spec.color")"},
      {"warning for a version in good standing", "spec.versions.0.deprecationWarning",
       R"("gone soon")",
       R"(spec.versions[0].deprecationWarning: Invalid value: "gone soon": can only be set for deprecated versions)"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ErrorsText(ValidateDefinition(With(Defaulted(Widgets()), c.path, c.value))), c.errors)
        << c.name;
  }
}

TEST(Definition, RefusesGarbageWithoutFalling) {
  for (const char* garbage :
       {"{}", "[]", R"({"spec": 1})", R"({"spec": {}})",
        R"({"spec": {"names": [], "versions": {}}})",
        R"({"spec": {"versions": [1, null, {"schema": [], "subresources": {"scale": 1}}]}})"}) {
    Json crd = Parse(garbage);
    DefaultDefinition(crd);
    EXPECT_FALSE(ValidateDefinition(crd).empty()) << garbage;
    EXPECT_FALSE(CustomResource::Compile(crd).ok()) << garbage;
  }
}

TEST(Definition, VersionsAreUniqueAndOneIsStored) {
  Json crd = Defaulted(Widgets());
  Json second = crd.at("spec").at("versions").at(0);
  crd.at("spec").at("versions").as_array().push_back(second);
  EXPECT_EQ(ErrorsText(ValidateDefinition(crd)),
            "spec.versions[1].name: Duplicate value: \"v1\"; spec.versions: Invalid value: "
            "[\"v1\"]: must have exactly one version marked as storage version");
}

TEST(DefinitionUpdate, KeepsWhatObjectsDependOn) {
  Json old = Defaulted(Widgets());
  UpdateDefinitionStatus(old, {}, WallTime());
  const struct {
    const char* path;
    const char* value;
    const char* errors;
  } kCases[] = {
      {"spec.scope", R"("Cluster")", R"(spec.scope: Invalid value: "Cluster": field is immutable)"},
      {"spec.group", R"("x.y")", R"(spec.group: Invalid value: "x.y": field is immutable)"},
      {"spec.names.kind", R"("Gadget")",
       R"(spec.names.kind: Invalid value: "Gadget": field is immutable)"},
      {"spec.names.plural", R"("gadgets")",
       R"(spec.names.plural: Invalid value: "gadgets": field is immutable)"},
      {"spec.names.shortNames", R"(["w"])", ""},
      {"spec.versions.0.name", R"("v2")",
       R"(status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions)"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ErrorsText(ValidateDefinitionUpdate(With(old, c.path, c.value), old)), c.errors)
        << c.path;
  }
  const Json unaccepted = With(old, "status.conditions", "[]");
  EXPECT_EQ(ErrorsText(ValidateDefinitionUpdate(With(unaccepted, "spec.scope", R"("Cluster")"),
                                                unaccepted)),
            "");
}

TEST(DefinitionStatus, EstablishesAtOnce) {
  Json crd = Defaulted(Widgets());
  EXPECT_TRUE(UpdateDefinitionStatus(crd, {}, kube::ParseTime("2026-07-01T10:00:00Z").value()));
  EXPECT_EQ(crd.at("status"), Parse(R"({
    "conditions": [
      {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts",
       "message": "no conflicts found", "lastTransitionTime": "2026-07-01T10:00:00Z"},
      {"type": "Established", "status": "True", "reason": "InitialNamesAccepted",
       "message": "the initial names have been accepted",
       "lastTransitionTime": "2026-07-01T10:00:00Z"}],
    "acceptedNames": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"],
                      "categories": ["all"], "singular": "widget", "listKind": "WidgetList"},
    "storedVersions": ["v1"]})"));

  const Json before = crd;
  UpdateDefinitionStatus(crd, {}, kube::ParseTime("2026-07-01T11:00:00Z").value());
  EXPECT_EQ(crd, before) << "nothing changed, so nothing is written";
}

TEST(DefinitionStatus, RemembersVersionsOnceStored) {
  Json crd = Defaulted(Widgets());
  UpdateDefinitionStatus(crd, {}, WallTime());
  crd = With(crd, "spec.versions.0.name", R"("v2")");
  UpdateDefinitionStatus(crd, {}, WallTime());
  EXPECT_EQ(crd.at("status").at("storedVersions"), Parse(R"(["v1", "v2"])"));
}

TEST(DefinitionStatus, NamesOfTheSameGroupAreTakenOnce) {
  Json first = Defaulted(Widgets());
  UpdateDefinitionStatus(first, {}, WallTime());
  const Json* const others[] = {&first};

  Json second = Defaulted(Parse(R"({"metadata": {"name": "wodgets.example.com"}, "spec": {
      "group": "example.com", "names": {"plural": "wodgets", "kind": "Widget"}}})"));
  EXPECT_FALSE(UpdateDefinitionStatus(second, others, WallTime()));
  const auto& conditions = second.at("status").at("conditions").as_array();
  EXPECT_EQ(kube::FindString(conditions[0], {"status"}), "False");
  EXPECT_EQ(kube::FindString(conditions[0], {"reason"}), "SingularConflict");
  EXPECT_EQ(kube::FindString(conditions[0], {"message"}), "\"widget\" is already in use");
  EXPECT_EQ(kube::FindString(conditions[1], {"reason"}), "NotAccepted");

  const struct {
    const char* path;
    const char* value;
    const char* reason;
  } kCases[] = {{"spec.names.shortNames", R"(["x", "wd"])", "ShortNamesConflict"},
                {"spec.names.kind", R"("Widget")", "KindConflict"},
                {"spec.names.listKind", R"("WidgetList")", "ListKindConflict"},
                {"spec.names.plural", R"("widgets")", "PluralConflict"},
                {"spec.group", R"("other.org")", "NoConflicts"}};
  for (const auto& c : kCases) {
    Json crd = Parse(R"({"metadata": {"name": "w.example.com"}, "spec": {"group": "example.com",
        "names": {"plural": "ws", "kind": "W", "singular": "w", "listKind": "WList"}}})");
    crd = With(crd, c.path, c.value);
    UpdateDefinitionStatus(crd, others, WallTime());
    EXPECT_EQ(kube::FindString(crd.at("status").at("conditions").at(0), {"reason"}), c.reason);
  }
  EXPECT_TRUE(UpdateDefinitionStatus(first, others, WallTime()))
      << "it does not conflict with itself";
}

TEST(DefinitionStatus, Terminating) {
  Json crd = Defaulted(Widgets());
  MarkDefinitionTerminating(crd, WallTime());
  EXPECT_EQ(kube::FindString(crd.at("status").at("conditions").at(0), {"type"}), "Terminating");
}

TEST(DefinitionWarnings, RulesAreNotEnforced) {
  EXPECT_TRUE(DefinitionWarnings(Widgets()).empty());
  const Json crd =
      With(Widgets(), "spec.versions.0.schema.openAPIV3Schema.x-kubernetes-validations",
           R"([{"rule": "self.spec.replicas > 1"}])");
  EXPECT_EQ(DefinitionWarnings(crd),
            std::vector<std::string>{"x-kubernetes-validations are not enforced"});
}

TEST(CustomResource, DescribesEachVersion) {
  Json crd = Defaulted(Widgets(R"(,
      "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
                       "statusReplicasPath": ".status.replicas"}},
      "additionalPrinterColumns": [{"name": "Color", "type": "string", "jsonPath": ".spec.color",
                                    "priority": 1, "description": "d"}],
      "selectableFields": [{"jsonPath": ".spec.color"}])"));
  crd.at("spec")
      .at("versions")
      .as_array()
      .push_back(Parse(
          fmt::format(R"({{"name": "v1beta1", "served": false, "storage": false, "deprecated": true,
                             "schema": {}}})",
                      kSchema)));
  crd.at("spec")
      .at("versions")
      .as_array()
      .push_back(
          Parse(fmt::format(R"({{"name": "v2", "served": true, "storage": false, "deprecated": true,
                             "deprecationWarning": "use v1", "schema": {}}})",
                            kSchema)));
  const auto custom = CustomResource::Compile(crd);
  ASSERT_TRUE(custom.ok()) << custom.status();
  std::vector<std::string> order;
  for (const auto& version : (*custom)->versions) order.push_back(version.info->resource.version);
  EXPECT_EQ(Join(order, " "), "v2 v1 v1beta1");
  EXPECT_EQ((*custom)->name, "widgets.example.com");
  EXPECT_EQ((*custom)->storage().info->resource.version, "v1");

  const CustomVersion* v1 = (*custom)->Find("v1");
  ASSERT_NE(v1, nullptr);
  EXPECT_TRUE(v1->served);
  const ResourceInfo& info = *v1->info;
  EXPECT_EQ(info.resource, (kube::Resource{"example.com", "v1", "widgets", "Widget", true}));
  EXPECT_EQ(info.singular, "widget");
  EXPECT_EQ(info.list_kind, "WidgetList");
  EXPECT_EQ(info.short_names, std::vector<std::string>{"wd"});
  EXPECT_EQ(info.categories, std::vector<std::string>{"all"});
  EXPECT_EQ(Join(info.verbs, ","), "create,delete,deletecollection,get,list,patch,update,watch");
  EXPECT_EQ(info.storage_api_version, "example.com/v1");
  EXPECT_TRUE(info.custom);
  EXPECT_TRUE(info.has_status());
  ASSERT_NE(info.FindSubresource("scale"), nullptr);
  EXPECT_EQ(info.FindSubresource("scale")->kind.kind, "Scale");
  EXPECT_EQ(info.FindSubresource("scale")->kind.group, "autoscaling");
  ASSERT_EQ(info.columns.size(), 1u);
  EXPECT_EQ(info.columns[0].json_path, ".spec.color");
  EXPECT_EQ(info.columns[0].priority, 1);
  ASSERT_EQ(info.selectable_fields.size(), 1u);
  EXPECT_EQ(info.selectable_fields[0].name, "spec.color");
  EXPECT_EQ(info.selectable_fields[0].path, (std::vector<std::string>{"spec", "color"}));
  EXPECT_EQ(info.deprecation_warning, "");
  ASSERT_TRUE(v1->scale.has_value());
  EXPECT_EQ(*v1->scale->spec_replicas.First(Parse(R"({"spec": {"replicas": 4}})")), 4);
  EXPECT_FALSE(v1->scale->label_selector.has_value());

  const ResourceInfo& old = *(*custom)->Find("v1beta1")->info;
  EXPECT_FALSE((*custom)->Find("v1beta1")->served);
  EXPECT_EQ(old.deprecation_warning, "example.com/v1beta1 Widget is deprecated");
  EXPECT_EQ(old.columns.at(0).name, "Age") << "without columns of its own a version shows its age";
  EXPECT_EQ(old.columns.at(0).json_path, ".metadata.creationTimestamp");
  EXPECT_FALSE(old.has_status());
  EXPECT_EQ((*custom)->Find("v2")->info->deprecation_warning, "use v1");
}

TEST(CustomResource, ConvertsByRenaming) {
  Json object = Parse(R"({"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"a": 1}})");
  ConvertVersion(object, "example.com/v2");
  EXPECT_EQ(object,
            Parse(R"({"apiVersion": "example.com/v2", "kind": "Widget", "spec": {"a": 1}})"));
}

}  // namespace
}  // namespace koord::apiserver::definition_test
