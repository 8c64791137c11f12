#pragma once
#include <string>
#include <string_view>

#include "kube/json.h"
#include "kube/time.h"
#include "localcluster/apiserver/tables/table.h"

// What the tests of all tables need.
namespace koord::apiserver {

inline WallTime TestNow() { return kube::ParseTime("2026-07-01T10:00:00Z").value(); }

inline ResourceInfo BuiltinInfo(std::string_view group, std::string_view kind) {
  ResourceInfo info;
  info.resource.group = group;
  info.resource.version = "v1";
  info.resource.kind = kind;
  return info;
}

inline kube::Json TableOf(const ResourceInfo& info, const kube::Json& object,
                          TableOptions options = {}) {
  options.now = TestNow();
  const kube::Json* const objects[] = {&object};
  return MakeTable(info, objects, options);
}

// Strings bare, everything else as JSON, "|" between cells.
inline std::string CellsText(const kube::Json& table) {
  std::string text;
  for (const kube::Json& cell : table.at("rows").at(0).at("cells").as_array()) {
    text += cell.is_string() ? std::string(kube::FindString(cell, {})) : kube::Serialize(cell);
    text += "|";
  }
  text.pop_back();
  return text;
}

// "Name|Ready|(IP)": wide columns in parentheses.
inline std::string ColumnsText(const kube::Json& table) {
  std::string text;
  for (const kube::Json& column : table.at("columnDefinitions").as_array()) {
    if (!text.empty()) text += "|";
    const std::string name(kube::FindString(column, {"name"}));
    text += kube::FindInt(column, {"priority"}) > 0 ? "(" + name + ")" : name;
  }
  return text;
}

inline std::string RowText(std::string_view group, std::string_view kind, std::string_view object) {
  return CellsText(TableOf(BuiltinInfo(group, kind), kube::ParseJson(object).value()));
}

}  // namespace koord::apiserver
