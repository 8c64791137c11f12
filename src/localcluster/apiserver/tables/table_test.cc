#include "localcluster/apiserver/tables/table.h"

#include <gtest/gtest.h>

#include "localcluster/apiserver/registry/registry_testing.h"
#include "localcluster/apiserver/tables/tables_testing.h"

namespace koord::apiserver::table_test {
namespace {

using kube::Json;
namespace json = kube::json;

TEST(MakeTable, CarriesListMetadataAndRowsInOrder) {
  const Json a = Parse(R"({"metadata": {"name": "a"}, "data": {"x": "1"}})");
  const Json b = Parse(R"({"metadata": {"name": "b"}})");
  const Json* const objects[] = {&a, &b};
  TableOptions options;
  options.metadata = {{"resourceVersion", "12"}, {"continue", "tok"}, {"remainingItemCount", 3}};
  options.now = TestNow();
  const Json table = MakeTable(BuiltinInfo("", "ConfigMap"), objects, options);
  EXPECT_EQ(table.at("kind"), "Table");
  EXPECT_EQ(table.at("apiVersion"), "meta.k8s.io/v1");
  EXPECT_EQ(table.at("metadata"), options.metadata);
  ASSERT_EQ(table.at("rows").as_array().size(), 2u);
  EXPECT_EQ(table.at("rows").at(0).at("cells"), Parse(R"(["a", 1, "<unknown>"])"));
  EXPECT_EQ(table.at("rows").at(1).at("cells"), Parse(R"(["b", 0, "<unknown>"])"));
}

TEST(MakeTable, EmptyListHasColumnsAndNoRows) {
  const Json table = MakeTable(BuiltinInfo("", "ConfigMap"), {}, {});
  EXPECT_EQ(ColumnsText(table), "Name|Data|Age");
  EXPECT_EQ(table.at("rows"), json::array());
}

TEST(MakeTable, IncludesWhatWasAskedFor) {
  const Json object = Parse(R"({"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {}})");
  const auto included = [&](IncludeObject include, std::string_view version) {
    TableOptions options;
    options.include_object = include;
    options.version = version;
    return TableOf(BuiltinInfo("", "ConfigMap"), object, options).at("rows").at(0).at("object");
  };
  EXPECT_EQ(included(IncludeObject::kNone, "v1"), Json(nullptr));
  EXPECT_EQ(included(IncludeObject::kObject, "v1"), object);
  EXPECT_EQ(included(IncludeObject::kMetadata, "v1"),
            Parse(R"({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                      "metadata": {"name": "a"}})"));
  EXPECT_EQ(included(IncludeObject::kMetadata, "v1beta1").at("apiVersion"), "meta.k8s.io/v1beta1");
}

TEST(MakeTable, LaterEventsOfAWatchCarryNoColumns) {
  TableOptions options;
  options.columns = false;
  options.version = "v1beta1";
  const Json table = TableOf(BuiltinInfo("", "ConfigMap"), json::object(), options);
  EXPECT_EQ(table.at("columnDefinitions"), Json(nullptr));
  EXPECT_EQ(table.at("apiVersion"), "meta.k8s.io/v1beta1");
}

ResourceInfo CustomInfo(std::vector<PrinterColumn> columns) {
  ResourceInfo info;
  info.custom = true;
  info.resource = {"example.com", "v1", "widgets", "Pod"};
  info.columns = std::move(columns);
  return info;
}

PrinterColumn Of(const char* type, const char* path) { return {"C", type, "", "", path, 0}; }

TEST(MakeTable, CustomColumnsInOrder) {
  ResourceInfo info = CustomInfo({{"Phase", "string", "", "How it is.", ".status.phase", 0},
                                  {"Replicas", "integer", "int32", "", ".spec.replicas", 1},
                                  {"Age", "date", "", "", ".metadata.creationTimestamp", 0}});
  const Json object =
      Parse(R"({"metadata": {"name": "w", "creationTimestamp": "2026-07-01T09:58:00Z"},
      "spec": {"replicas": 3}, "status": {"phase": "Failed"}})");
  const Json table = TableOf(info, object);
  EXPECT_EQ(ColumnsText(table), "Name|Phase|(Replicas)|Age");
  EXPECT_EQ(CellsText(table), "w|Failed|3|2m");
  EXPECT_EQ(table.at("columnDefinitions").at(2),
            Parse(R"({"name": "Replicas", "type": "integer", "format": "int32", "description": "",
                      "priority": 1})"));
  EXPECT_EQ(table.at("columnDefinitions").at(1).at("description"), "How it is.");
  EXPECT_EQ(kube::Find(table.at("rows").at(0), {"conditions"}), nullptr)
      << "only pods complete, not custom resources that are called so";
}

TEST(MakeTable, CustomCellsByType) {
  const Json object = Parse(R"({"metadata": {"name": "w"}, "s": "text", "i": 7, "f": 2.9, "b": true,
      "l": [{"n": "x"}, {"n": "y"}], "m": {"k": 1}, "null": null, "e": "",
      "t": "2026-07-01T09:59:00Z", "future": "2026-07-01T10:00:09Z",
      "c": [{"type": "Ready", "status": "True"}]})");
  const struct {
    const char* name;
    PrinterColumn column;
    const char* cell;
  } kCases[] = {
      {"text", Of("string", ".s"), R"("text")"},
      {"number as text", Of("string", ".i"), R"("7")"},
      {"fraction as text", Of("string", ".f"), R"("2.9")"},
      {"boolean as text", Of("string", ".b"), R"("true")"},
      {"only the first result", Of("string", ".l[*].n"), R"("x")"},
      {"map as text", Of("string", ".m"), R"("{\"k\":1}")"},
      {"list as text", Of("string", ".l[0:1]"), R"("{\"n\":\"x\"}")"},
      {"condition", Of("string", R"(.c[?(@.type=="Ready")].status)"), R"("True")"},
      {"missing", Of("string", ".x.y"), "null"},
      {"null", Of("string", ".null"), "null"},
      {"integer", Of("integer", ".i"), "7"},
      {"fractions are cut off", Of("integer", ".f"), "2"},
      {"integer of a text", Of("integer", ".s"), "null"},
      {"number", Of("number", ".f"), "2.9E0"},
      {"number of a text", Of("number", ".s"), "null"},
      {"boolean", Of("boolean", ".b"), "true"},
      {"boolean of a text", Of("boolean", ".s"), "null"},
      {"date", Of("date", ".t"), R"("60s")"},
      {"empty date", Of("date", ".e"), R"("<unknown>")"},
      {"date in the future", Of("date", ".future"), R"("<invalid>")"},
      {"no date", Of("date", ".s"), R"("<invalid>")"},
      {"date of a number", Of("date", ".i"), "null"},
      {"bad path", Of("string", ".["), "null"},
      {"unknown type", Of("money", ".i"), "null"},
  };
  for (const auto& c : kCases) {
    const Json table = TableOf(CustomInfo({c.column}), object);
    EXPECT_EQ(kube::Serialize(table.at("rows").at(0).at("cells").at(1)), c.cell) << c.name;
  }
}

TEST(PartialObjectMetadata, KeepsMetadataOnly) {
  EXPECT_EQ(PartialObjectMetadata(Parse(R"({"kind": "Pod", "metadata": {"name": "p", "uid": "u"},
                                            "spec": {}})")),
            Parse(R"({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                      "metadata": {"name": "p", "uid": "u"}})"));
}

}  // namespace
}  // namespace koord::apiserver::table_test
