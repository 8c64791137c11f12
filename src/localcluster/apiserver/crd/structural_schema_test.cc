#include "localcluster/apiserver/crd/structural_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "localcluster/apiserver/registry/registry_testing.h"

namespace koord::apiserver::structural_schema_test {
namespace {

using kube::Json;

// A root schema with these properties.
Json Root(std::string_view properties) {
  return Parse(fmt::format(R"({{"type": "object", "properties": {{{}}}}})", properties));
}

StructuralSchemaPtr Compile(const Json& schema) {
  FieldErrors errors;
  auto compiled = StructuralSchema::Compile(schema, "s", errors);
  EXPECT_EQ(ErrorsText(errors), "");
  return compiled;
}

std::string CompileErrors(std::string_view schema) {
  FieldErrors errors;
  const auto compiled = StructuralSchema::Compile(Parse(schema), "s", errors);
  EXPECT_EQ(compiled == nullptr, !errors.empty());
  return ErrorsText(errors);
}

TEST(StructuralSchema, RefusesWhatIsNotStructural) {
  const struct {
    const char* name;
    const char* schema;
    const char* errors;
  } kCases[] = {
      {"no type at the root", R"({"properties": {}})",
       "s.type: Required value: must not be empty at the root"},
      {"root of another type", R"({"type": "string"})",
       R"(s.type: Invalid value: "string": must be object at the root)"},
      {"property without type", R"({"type": "object", "properties": {"a": {}}})",
       "s.properties[a].type: Required value: must not be empty for specified object fields"},
      {"items without type",
       R"({"type": "object", "properties": {"a": {"type": "array", "items": {}}}})",
       "s.properties[a].items.type: Required value: must not be empty for specified array items"},
      {"list without items", R"({"type": "object", "properties": {"a": {"type": "array"}}})",
       "s.properties[a].items: Required value: must be specified"},
      {"unknown type", R"({"type": "object", "properties": {"a": {"type": "float"}}})",
       R"(s.properties[a].type: Unsupported value: "float": supported values: "array", "boolean", "integer", "number", "object", "string")"},
      {"type and int-or-string",
       R"({"type": "object", "properties": {"a": {"type": "string", "x-kubernetes-int-or-string": true}}})",
       "s.properties[a].type: Forbidden: must be empty if x-kubernetes-int-or-string is true"},
      {"type in a junctor",
       R"({"type": "object", "properties": {"a": {"type": "string", "anyOf": [{"type": "string"}]}}})",
       "s.properties[a].anyOf[0].type: Forbidden: must be empty to be structural"},
      {"default in a junctor",
       R"({"type": "object", "properties": {"a": {"type": "string", "not": {"default": "x"}}}})",
       "s.properties[a].not.default: Forbidden: must be empty to be structural"},
      {"only a junctor knows the field",
       R"({"type": "object", "oneOf": [{"properties": {"b": {"minimum": 1}}}]})",
       "s.properties[b]: Required value: because it is defined in s.oneOf[0].properties[b]"},
      {"only a junctor knows the items",
       R"({"type": "object", "properties": {"a": {"type": "object", "not": {"items": {}}}}})",
       "s.properties[a].items: Required value: because it is defined in s.properties[a].not.items"},
      {"preserve false",
       R"({"type": "object", "properties": {"a": {"type": "object", "x-kubernetes-preserve-unknown-fields": false}}})",
       "s.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true "
       "or "
       "undefined"},
      {"properties and additionalProperties",
       R"({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}})",
       "s.additionalProperties: Forbidden: additionalProperties and properties are mutual "
       "exclusive"},
      {"additionalProperties false",
       R"({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": false}}})",
       "s.properties[a].additionalProperties: Forbidden: additionalProperties cannot be set to "
       "false"},
      {"unique items",
       R"({"type": "object", "properties": {"a": {"type": "array", "uniqueItems": true, "items": {"type": "string"}}}})",
       "s.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the "
       "runtime "
       "complexity becomes quadratic"},
      {"reference", R"({"type": "object", "properties": {"a": {"type": "object", "$ref": "#/x"}}})",
       "s.properties[a].$ref: Forbidden: is not supported"},
      {"bad pattern",
       R"({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}})",
       R"(s.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn't: missing ): ()"},
      {"negative length",
       R"({"type": "object", "properties": {"a": {"type": "string", "minLength": -1}}})",
       "s.properties[a].minLength: Invalid value: -1: must be a whole number, 0 or more"},
      {"bound that is no number",
       R"({"type": "object", "properties": {"a": {"type": "integer", "minimum": "1"}}})",
       R"(s.properties[a].minimum: Invalid value: "1": must be a number)"},
      {"default of the wrong type",
       R"({"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}})",
       R"(s.properties[a].default: Invalid value: "string":  in body must be of type integer: "string")"},
      {"default with an unknown field",
       R"({"type": "object", "properties": {"a": {"type": "object", "default": {"x": 1}}}})",
       R"(s.properties[a].default: Invalid value: {"x":1}: must not have unknown field x)"},
      {"metadata",
       R"({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}})",
       "s.properties[metadata]: Forbidden: must not specify anything other than name and "
       "generateName, but metadata is implicitly specified"},
      {"description of metadata",
       R"({"type": "object", "properties": {"metadata": {"type": "object", "description": "of all"}}})",
       "s.properties[metadata]: Forbidden: must not specify anything other than name and "
       "generateName, but metadata is implicitly specified"},
      {"unknown list type",
       R"({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "bag"}}})",
       R"(s.properties[a].x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "map", "set")"},
      {"list map without keys",
       R"({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"}}})",
       "s.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if "
       "x-kubernetes-list-type is map"},
      {"list map by an unknown key",
       R"({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"]}}})",
       R"(s.properties[a].x-kubernetes-list-map-keys[0]: Invalid value: "n": entries must all be names of item properties)"},
      {"list map by an optional key",
       R"({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "string"}}}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"]}}})",
       "s.properties[a].x-kubernetes-list-map-keys[0]: Required value: this property must have a "
       "default or be a required property"},
      {"embedded resource without content",
       R"({"type": "object", "properties": {"a": {"type": "object", "x-kubernetes-embedded-resource": true}}})",
       "s.properties[a].properties: Required value: must not be empty if "
       "x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"},
      {"schema of another JSON type", R"({"type": "object", "properties": {"a": 1}})",
       "s.properties[a]: Invalid value: 1: must be a schema"},
  };
  for (const auto& c : kCases) EXPECT_EQ(CompileErrors(c.schema), c.errors) << c.name;
}

TEST(StructuralSchema, AcceptsWhatGeneratorsWrite) {
  EXPECT_EQ(CompileErrors(R"({"type": "object", "properties": {
      "quantity": {"anyOf": [{"type": "integer"}, {"type": "string"}],
                   "x-kubernetes-int-or-string": true, "pattern": "^[0-9]+$"},
      "both": {"allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}],
               "x-kubernetes-int-or-string": true},
      "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}},
      "raw": {"x-kubernetes-preserve-unknown-fields": true},
      "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                   "x-kubernetes-preserve-unknown-fields": true},
      "nested": {"type": "object", "default": {}, "required": ["x"],
                 "properties": {"x": {"type": "integer", "default": 1}}},
      "oneOfTwo": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                   "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
      "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["p", "n"],
              "items": {"type": "object", "required": ["n"], "properties": {
                "n": {"type": "string"}, "p": {"type": "string", "default": "TCP"}}}}}})"),
            "");
}

struct PruneCase {
  const char* name;
  const char* properties;
  const char* object;
  const char* pruned;
  const char* removed;
};

TEST(Prune, RemovesWhatTheSchemaDoesNotKnow) {
  const PruneCase kCases[] = {
      {"unknown field", R"("spec": {"type": "object", "properties": {"a": {"type": "integer"}}})",
       R"({"spec": {"a": 1, "b": 2}, "x": {}})", R"({"spec": {"a": 1}})", "spec.b x"},
      {"inside lists",
       R"("l": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}})",
       R"({"l": [{"a": 1}, {"a": 1, "b": 2}]})", R"({"l": [{"a": 1}, {"a": 1}]})", "l[1].b"},
      {"inside maps",
       R"("m": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "integer"}}}})",
       R"({"m": {"k": {"a": 1, "b": 2}}})", R"({"m": {"k": {"a": 1}}})", "m.k.b"},
      {"any additional members, but nothing below them",
       R"("m": {"type": "object", "additionalProperties": true})",
       R"({"m": {"k": 1, "o": {"a": 1}}})", R"({"m": {"k": 1, "o": {}}})", "m.o.a"},
      {"an object without properties", R"("o": {"type": "object"})", R"({"o": {"a": {"b": 1}}})",
       R"({"o": {}})", "o.a"},
      {"unknown fields preserved, known ones still pruned inside",
       R"("o": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"k": {"type": "object", "properties": {"a": {"type": "integer"}}}}})",
       R"({"o": {"free": {"x": [1, {"y": 2}]}, "k": {"a": 1, "b": 2}}})",
       R"({"o": {"free": {"x": [1, {"y": 2}]}, "k": {"a": 1}}})", "o.k.b"},
      {"type metadata of the object itself and of embedded ones",
       R"("t": {"type": "object", "x-kubernetes-embedded-resource": true,
                "properties": {"spec": {"type": "object"}}})",
       R"({"apiVersion": "v", "kind": "K", "metadata": {"name": "n"},
           "t": {"apiVersion": "v", "kind": "P", "metadata": {"name": "x"}, "spec": {"a": 1}, "b": 1}})",
       R"({"apiVersion": "v", "kind": "K", "metadata": {"name": "n"},
           "t": {"apiVersion": "v", "kind": "P", "metadata": {"name": "x"}, "spec": {}}})",
       "t.b t.spec.a"},
      {"unknown metadata", R"("s": {"type": "string"})",
       R"({"metadata": {"name": "n", "labels": {"any": "x"}, "foo": 1,
                        "ownerReferences": [{"uid": "u", "bar": 1}]}})",
       R"({"metadata": {"name": "n", "labels": {"any": "x"}, "ownerReferences": [{"uid": "u"}]}})",
       "metadata.foo metadata.ownerReferences[0].bar"},
      {"apiVersion, kind and metadata mean nothing deeper down", R"("o": {"type": "object"})",
       R"({"o": {"kind": "x", "metadata": {}}})", R"({"o": {}})", "o.kind o.metadata"},
      {"values of another type are left to validation", R"("o": {"type": "object"})",
       R"({"o": "text"})", R"({"o": "text"})", ""},
  };
  for (const auto& c : kCases) {
    Json object = Parse(c.object);
    const auto removed = Compile(Root(c.properties))->Prune(object);
    EXPECT_EQ(object, Parse(c.pruned)) << c.name << ": " << object;
    EXPECT_EQ(Join(removed, " "), c.removed) << c.name;
  }
}

struct DefaultCase {
  const char* name;
  const char* properties;
  const char* object;
  const char* defaulted;
};

TEST(ApplyDefaults, FillsInWhatIsMissing) {
  const DefaultCase kCases[] = {
      {"missing field", R"("a": {"type": "integer", "default": 1})", "{}", R"({"a": 1})"},
      {"zero values are values",
       R"("a": {"type": "integer", "default": 1}, "s": {"type": "string", "default": "x"},
          "l": {"type": "array", "items": {"type": "string"}, "default": ["x"]})",
       R"({"a": 0, "s": "", "l": []})", R"({"a": 0, "s": "", "l": []})"},
      {"null that is not allowed", R"("a": {"type": "integer", "default": 1})", R"({"a": null})",
       R"({"a": 1})"},
      {"null that is allowed", R"("a": {"type": "integer", "default": 1, "nullable": true})",
       R"({"a": null})", R"({"a": null})"},
      {"null without default goes away", R"("a": {"type": "integer"})",
       R"({"a": null, "unknown": null})", R"({"unknown": null})"},
      {"nothing below a missing parent",
       R"("o": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}})", "{}",
       "{}"},
      {"below a present parent",
       R"("o": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}})",
       R"({"o": {}})", R"({"o": {"a": 1}})"},
      {"inside inserted defaults",
       R"("o": {"type": "object", "default": {}, "properties": {"a": {"type": "integer", "default": 1}}})",
       "{}", R"({"o": {"a": 1}})"},
      {"in lists and maps",
       R"("l": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}},
          "m": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "integer", "default": 2}}}})",
       R"({"l": [{}, {"a": 7}], "m": {"k": {}}})",
       R"({"l": [{"a": 1}, {"a": 7}], "m": {"k": {"a": 2}}})"},
      {"null items and members with a default",
       R"("l": {"type": "array", "items": {"type": "integer", "default": 3}},
          "m": {"type": "object", "additionalProperties": {"type": "integer", "default": 4}})",
       R"({"l": [null], "m": {"k": null}})", R"({"l": [3], "m": {"k": 4}})"},
      {"null items and members without one",
       R"("l": {"type": "array", "items": {"type": "integer"}},
          "m": {"type": "object", "additionalProperties": {"type": "integer"}})",
       R"({"l": [null], "m": {"k": null}})", R"({"l": [null], "m": {"k": null}})"},
  };
  for (const auto& c : kCases) {
    Json object = Parse(c.object);
    Compile(Root(c.properties))->ApplyDefaults(object);
    EXPECT_EQ(object, Parse(c.defaulted)) << c.name << ": " << object;
  }
}

TEST(ApplyDefaults, DoesNotShareTheDefault) {
  const auto schema = Compile(Root(
      R"("o": {"type": "object", "default": {"a": 1}, "properties": {"a": {"type": "integer"}}})"));
  Json first = Parse("{}"), second = Parse("{}");
  schema->ApplyDefaults(first);
  first.at("o").as_object()["a"] = 2;
  schema->ApplyDefaults(second);
  EXPECT_EQ(second, Parse(R"({"o": {"a": 1}})"));
}

struct ValidateCase {
  const char* name;
  const char* field;  // schema of spec.f
  const char* value;  // of spec.f
  const char* errors;
};

std::string ValidateField(const char* field, const char* value) {
  const auto schema = Compile(
      Root(fmt::format(R"("spec": {{"type": "object", "properties": {{"f": {}}}}})", field)));
  return ErrorsText(schema->Validate(Parse(fmt::format(R"({{"spec": {{"f": {}}}}})", value))));
}

TEST(Validate, SaysWhatIsWrong) {
  const ValidateCase kCases[] = {
      {"integer", R"({"type": "integer"})", "5", ""},
      {"whole float", R"({"type": "integer"})", "5.0", ""},
      {"text for integer", R"({"type": "integer"})", R"("x")",
       R"(spec.f: Invalid value: "string": spec.f in body must be of type integer: "string")"},
      {"fraction for integer", R"({"type": "integer"})", "1.5",
       R"(spec.f: Invalid value: "number": spec.f in body must be of type integer: "number")"},
      {"integer for number", R"({"type": "number"})", "5", ""},
      {"null", R"({"type": "string"})", "null",
       R"(spec.f: Invalid value: "null": spec.f in body must be of type string: "null")"},
      {"nullable null", R"({"type": "string", "nullable": true, "minLength": 3})", "null", ""},
      {"list for object", R"({"type": "object"})", "[]",
       R"(spec.f: Invalid value: "array": spec.f in body must be of type object: "array")"},
      {"object for boolean", R"({"type": "boolean"})", "{}",
       R"(spec.f: Invalid value: "object": spec.f in body must be of type boolean: "object")"},
      {"int-or-string", R"({"x-kubernetes-int-or-string": true})", R"("50%")", ""},
      {"boolean for int-or-string", R"({"x-kubernetes-int-or-string": true})", "true",
       R"(spec.f: Invalid value: "boolean": spec.f in body must be of type integer,string: "boolean")"},

      {"enum", R"({"type": "string", "enum": ["a", "b"]})", R"("a")", ""},
      {"not in enum", R"({"type": "string", "enum": ["a", "b"]})", R"("z")",
       R"(spec.f: Unsupported value: "z": supported values: "a", "b")"},
      {"number in enum", R"({"type": "number", "enum": [1, 2.5]})", "1.0", ""},

      {"maximum reached", R"({"type": "integer", "maximum": 10})", "10", ""},
      {"above maximum", R"({"type": "integer", "maximum": 10})", "11",
       "spec.f: Invalid value: 11: spec.f in body should be less than or equal to 10"},
      {"at exclusive maximum", R"({"type": "integer", "maximum": 10, "exclusiveMaximum": true})",
       "10", "spec.f: Invalid value: 10: spec.f in body should be less than 10"},
      {"below minimum", R"({"type": "number", "minimum": 0.5})", "0.25",
       "spec.f: Invalid value: 0.25: spec.f in body should be greater than or equal to 0.5"},
      {"at exclusive minimum", R"({"type": "integer", "minimum": 0, "exclusiveMinimum": true})",
       "0", "spec.f: Invalid value: 0: spec.f in body should be greater than 0"},
      {"multiple", R"({"type": "integer", "multipleOf": 5})", "12",
       "spec.f: Invalid value: 12: spec.f in body should be a multiple of 5"},

      {"length counts code points", R"({"type": "string", "maxLength": 2})", R"("äö")", ""},
      {"too long", R"({"type": "string", "maxLength": 2})", R"("abc")",
       "spec.f: Too long: may not be more than 2 bytes"},
      {"too short", R"({"type": "string", "minLength": 2})", R"("a")",
       R"(spec.f: Invalid value: "a": spec.f in body should be at least 2 chars long)"},
      {"pattern anywhere", R"({"type": "string", "pattern": "b+"})", R"("abc")", ""},
      {"pattern missed", R"({"type": "string", "pattern": "^b"})", R"("abc")",
       R"(spec.f: Invalid value: "abc": spec.f in body should match '^b')"},

      {"date-time", R"({"type": "string", "format": "date-time"})", R"("2026-07-01T10:00:00Z")",
       ""},
      {"no date-time", R"({"type": "string", "format": "date-time"})", R"("today")",
       R"(spec.f: Invalid value: "today": spec.f in body must be of type date-time: "today")"},
      {"no date", R"({"type": "string", "format": "date"})", R"("2026-13-01")",
       R"(spec.f: Invalid value: "2026-13-01": spec.f in body must be of type date: "2026-13-01")"},
      {"no base64", R"({"type": "string", "format": "byte"})", R"("*")",
       R"(spec.f: Invalid value: "*": spec.f in body must be of type byte: "*")"},
      {"int32", R"({"type": "integer", "format": "int32"})", "2147483647", ""},
      {"beyond int32", R"({"type": "integer", "format": "int32"})", "2147483648",
       "spec.f: Invalid value: 2147483648: spec.f in body must be of type int32: 2147483648"},
      {"cidr", R"({"type": "string", "format": "cidr"})", R"("10.0.0.0/8")", ""},
      {"no cidr", R"({"type": "string", "format": "cidr"})", R"("10.0.0.0/40")",
       R"(spec.f: Invalid value: "10.0.0.0/40": spec.f in body must be of type cidr: "10.0.0.0/40")"},
      {"duration", R"({"type": "string", "format": "duration"})", R"("1h30m")", ""},
      {"no duration", R"({"type": "string", "format": "duration"})", R"("soon")",
       R"(spec.f: Invalid value: "soon": spec.f in body must be of type duration: "soon")"},
      {"short name", R"({"type": "string", "format": "k8s-short-name"})", R"("A")",
       R"(spec.f: Invalid value: "A": spec.f in body must be of type k8s-short-name: "A")"},
      {"long name", R"({"type": "string", "format": "k8s-long-name"})", R"("a.b-c")", ""},
      {"unknown format", R"({"type": "string", "format": "colour"})", R"("x")", ""},

      {"too many items", R"({"type": "array", "maxItems": 1, "items": {"type": "integer"}})",
       "[1, 2]", "spec.f: Too many: 2: must have at most 1 items"},
      {"too few items", R"({"type": "array", "minItems": 1, "items": {"type": "integer"}})", "[]",
       "spec.f: Invalid value: 0: spec.f in body should have at least 1 items"},
      {"wrong item", R"({"type": "array", "items": {"type": "integer"}})", R"([1, "x"])",
       R"(spec.f[1]: Invalid value: "string": spec.f[1] in body must be of type integer: "string")"},
      {"duplicate in a set",
       R"({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}})",
       R"(["a", "b", "a"])", R"(spec.f[2]: Duplicate value: "a")"},
      {"duplicate in a list map, by default key",
       R"({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["p", "n"],
           "items": {"type": "object", "required": ["n"], "properties": {
             "n": {"type": "string"}, "p": {"type": "string", "default": "TCP"}}}})",
       R"([{"n": "a"}, {"n": "a", "p": "UDP"}, {"n": "a", "p": "TCP"}])",
       R"(spec.f[2]: Duplicate value: {"n":"a","p":"TCP"})"},

      {"required",
       R"({"type": "object", "required": ["b", "a"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}})",
       R"({"b": ""})", "spec.f.a: Required value"},
      {"too many members",
       R"({"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer"}})",
       R"({"a": 1, "b": 2})", "spec.f: Too many: 2: must have at most 1 items"},
      {"too few members",
       R"({"type": "object", "minProperties": 1, "additionalProperties": {"type": "integer"}})",
       "{}", "spec.f: Invalid value: 0: spec.f in body should have at least 1 properties"},
      {"wrong member", R"({"type": "object", "additionalProperties": {"type": "integer"}})",
       R"({"k": "x"})",
       R"(spec.f.k: Invalid value: "string": spec.f.k in body must be of type integer: "string")"},

      {"allOf", R"({"type": "integer", "allOf": [{"minimum": 1}, {"maximum": 5}]})", "7",
       "spec.f: Invalid value: 7: spec.f in body should be less than or equal to 5"},
      {"anyOf met", R"({"type": "integer", "anyOf": [{"minimum": 10}, {"maximum": 5}]})", "3", ""},
      {"anyOf missed", R"({"type": "integer", "anyOf": [{"minimum": 10}, {"maximum": 5}]})", "7",
       R"(spec.f: Invalid value: "": "spec.f" must validate at least one schema (anyOf))"},
      {"oneOf none", R"({"type": "integer", "oneOf": [{"minimum": 10}, {"maximum": 5}]})", "7",
       R"(spec.f: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found none valid)"},
      {"oneOf several", R"({"type": "integer", "oneOf": [{"minimum": 1}, {"maximum": 5}]})", "3",
       R"(spec.f: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found 2 valid alternatives)"},
      {"not", R"({"type": "integer", "not": {"minimum": 5}})", "7",
       R"(spec.f: Invalid value: "": "spec.f" must not validate the schema (not))"},

      {"embedded resource",
       R"({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true})",
       R"({"apiVersion": "v1", "metadata": {"labels": {"a": 1}}})",
       "spec.f.kind: Required value: must not be empty; "
       "spec.f.metadata.labels.a: Invalid value: 1: must be a string"},
      {"anything goes", R"({"x-kubernetes-preserve-unknown-fields": true})", R"([{"x": null}])",
       ""},
  };
  for (const auto& c : kCases) EXPECT_EQ(ValidateField(c.field, c.value), c.errors) << c.name;
}

TEST(Validate, ReasonsForClients) {
  const auto schema = Compile(Root(R"("a": {"type": "integer", "maximum": 1})"));
  EXPECT_EQ(schema->Validate(Parse(R"({"a": "x"})"))[0].reason(), "FieldValueTypeInvalid");
  EXPECT_EQ(schema->Validate(Parse(R"({"a": 2})"))[0].reason(), "FieldValueInvalid");
}

TEST(Validate, MetadataOfTheWrongType) {
  const auto schema = Compile(Root(R"("a": {"type": "integer"})"));
  EXPECT_EQ(ErrorsText(schema->Validate(Parse(R"({"metadata": {"name": 1, "labels": ["x"]}})"))),
            R"(metadata.name: Invalid value: 1: must be a string; )"
            R"(metadata.labels: Invalid value: ["x"]: must be an object)");
}

TEST(Validate, LetsUnchangedErrorsPass) {
  const auto schema = Compile(Root(R"("spec": {"type": "object", "required": ["r"], "properties": {
      "r": {"type": "string"},
      "old": {"type": "integer", "maximum": 5}, "other": {"type": "integer", "maximum": 5},
      "atomic": {"type": "array", "items": {"type": "integer", "maximum": 5}},
      "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
              "items": {"type": "object", "required": ["n"], "properties": {
                "n": {"type": "string"}, "v": {"type": "integer", "maximum": 5}}}}}})"));
  const auto update = [&](std::string_view from, std::string_view to) {
    const Json old = Parse(fmt::format(R"({{"spec": {}}})", from));
    return ErrorsText(schema->Validate(Parse(fmt::format(R"({{"spec": {}}})", to)), &old));
  };
  EXPECT_EQ(update(R"({"r": "", "old": 9})", R"({"r": "x", "old": 9})"), "");
  EXPECT_EQ(update(R"({"r": "", "old": 9})", R"({"r": "x", "old": 9, "other": 9})"),
            "spec.other: Invalid value: 9: spec.other in body should be less than or equal to 5");
  EXPECT_EQ(update(R"({"old": 9})", R"({"old": 9})"), "") << "nothing changed at all";
  EXPECT_EQ(update(R"({"old": 9})", R"({"old": 9, "other": 1})"), "spec.r: Required value")
      << "the object that lacks it has changed";
  EXPECT_EQ(update(R"({"r": "", "map": [{"n": "a", "v": 9}, {"n": "b"}]})",
                   R"({"r": "", "map": [{"n": "b", "v": 1}, {"n": "a", "v": 9}]})"),
            "")
      << "items are found again by their key";
  EXPECT_EQ(update(R"({"r": "", "atomic": [9]})", R"({"r": "", "atomic": [9, 1]})"),
            "spec.atomic[0]: Invalid value: 9: spec.atomic[0] in body should be less than or equal "
            "to 5")
      << "an atomic list is one value";
}

// Create {spec: {mode: "z", foo: 1}} against replicas (default 1) and mode (a or b).
TEST(StructuralSchema, WholeWrite) {
  const auto schema = Compile(Root(R"("spec": {"type": "object", "properties": {
      "replicas": {"type": "integer", "default": 1},
      "mode": {"type": "string", "enum": ["a", "b"]}}})"));
  Json object = Parse(R"({"spec": {"mode": "z", "foo": 1}})");
  EXPECT_THAT(schema->Prune(object), testing::ElementsAre("spec.foo"));
  schema->ApplyDefaults(object);
  EXPECT_EQ(ErrorsText(schema->Validate(object)),
            R"(spec.mode: Unsupported value: "z": supported values: "a", "b")");
  Json empty = Parse(R"({"spec": {}})");
  schema->ApplyDefaults(empty);
  EXPECT_EQ(empty, Parse(R"({"spec": {"replicas": 1}})"));
}

TEST(StructuralSchema, KnowsOfRules) {
  EXPECT_FALSE(Compile(Root(R"("a": {"type": "integer"})"))->has_rules());
  EXPECT_TRUE(Compile(Root(R"("a": {"type": "integer",
      "x-kubernetes-validations": [{"rule": "self > 1"}]})"))
                  ->has_rules());
}

}  // namespace
}  // namespace koord::apiserver::structural_schema_test
