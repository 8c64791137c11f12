#include "localcluster/apiserver/tables/table.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "localcluster/apiserver/crd/json_path.h"
#include "localcluster/apiserver/tables/cells.h"
#include "localcluster/apiserver/tables/human_duration.h"
#include "localcluster/apiserver/tables/printer.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

Json ColumnDefinition(std::string_view name, std::string_view type, std::string_view format,
                      std::string_view description, int priority) {
  return json::object{{"name", name},
                      {"type", type},
                      {"format", format},
                      {"description", description},
                      {"priority", priority}};
}

// What the server shows of a custom resource, in the order in which its definition says so.
class CustomPrinter {
 public:
  explicit CustomPrinter(const ResourceInfo& info) : info_(info) {
    for (const PrinterColumn& column : info.columns) {
      auto path = JsonPath::Parse(column.json_path);
      paths_.push_back(path.ok() ? std::optional(std::move(*path)) : std::nullopt);
    }
  }

  json::array Columns() const {
    json::array columns{ColumnDefinition(kNameColumn.name, kNameColumn.type, kNameColumn.format, "",
                                         kNameColumn.priority)};
    for (const PrinterColumn& column : info_.columns) {
      columns.push_back(ColumnDefinition(column.name, column.type, column.format,
                                         column.description, column.priority));
    }
    return columns;
  }

  void Print(Row& row) const {
    row.Name();
    for (size_t i = 0; i < paths_.size(); ++i) {
      const Json* value = paths_[i] ? paths_[i]->First(row.object) : nullptr;
      row.cells.push_back(value == nullptr ? Json() : Cell(info_.columns[i].type, *value, row.now));
    }
  }

 private:
  static Json Cell(std::string_view type, const Json& value, WallTime now) {
    if (value.is_null()) return nullptr;
    if (type == "string") return Json(ScalarText(&value));
    if (type == "date" && value.is_string()) {
      return Json(HumanAge(kube::FindString(value, {}), now));
    }
    if (type == "boolean" && value.is_bool()) return value;
    if (type == "number" && value.is_number()) return value;
    if (type == "integer" && value.is_number()) return Truncated(value);
    return nullptr;
  }

  static Json Truncated(const Json& number) {
    const double* real = number.if_double();
    if (real == nullptr) return number;
    constexpr double kLimit = 9.2e18;  // beyond this no int64 can hold it
    if (!(*real > -kLimit && *real < kLimit)) return nullptr;
    return static_cast<int64_t>(*real);
  }

  const ResourceInfo& info_;
  std::vector<std::optional<JsonPath>> paths_;
};

json::array BuiltinColumns(const Printer& printer) {
  json::array columns;
  for (const Column& column : printer.columns) {
    columns.push_back(
        ColumnDefinition(column.name, column.type, column.format, "", column.priority));
  }
  return columns;
}

// Pods that have ended: `kubectl get --watch` greys them out.
std::optional<Json> CompletedCondition(const ResourceInfo& info, const Json& object) {
  if (info.custom || info.resource.kind != "Pod" || !info.resource.group.empty()) return {};
  const std::string_view phase = kube::FindString(object, {"status", "phase"});
  if (phase != "Succeeded" && phase != "Failed") return {};
  const std::string_view message =
      phase == "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
  return json::object{
      {"type", "Completed"}, {"status", "True"}, {"reason", phase}, {"message", message}};
}

Json RowObject(const Json& object, const TableOptions& options) {
  switch (options.include_object) {
    case IncludeObject::kNone:
      return nullptr;
    case IncludeObject::kObject:
      return object;
    case IncludeObject::kMetadata:
      return PartialObjectMetadata(object, options.version);
  }
  return nullptr;
}

}  // namespace

Json MakeTable(const ResourceInfo& info, std::span<const Json* const> objects,
               const TableOptions& options) {
  std::function<void(Row&)> print;
  Json columns;
  if (info.custom) {
    const auto printer = std::make_shared<CustomPrinter>(info);
    if (options.columns) columns = printer->Columns();
    print = [printer](Row& row) { printer->Print(row); };
  } else {
    const Printer& printer = FindPrinter(info.resource.group, info.resource.kind);
    if (options.columns) columns = BuiltinColumns(printer);
    print = printer.print;
  }

  json::array rows;
  rows.reserve(objects.size());
  for (const Json* object : objects) {
    Row row(*object, options.now);
    print(row);
    json::object rendered{{"cells", std::move(row.cells)}};
    if (auto condition = CompletedCondition(info, *object)) {
      rendered["conditions"] = json::array{std::move(*condition)};
    }
    rendered["object"] = RowObject(*object, options);
    rows.push_back(std::move(rendered));
  }
  return json::object{{"kind", "Table"},
                      {"apiVersion", fmt::format("meta.k8s.io/{}", options.version)},
                      {"metadata", options.metadata},
                      {"columnDefinitions", std::move(columns)},
                      {"rows", std::move(rows)}};
}

Json PartialObjectMetadata(const Json& object, std::string_view version) {
  const Json* metadata = kube::Find(object, {"metadata"});
  return json::object{{"kind", "PartialObjectMetadata"},
                      {"apiVersion", fmt::format("meta.k8s.io/{}", version)},
                      {"metadata", metadata == nullptr ? Json(json::object()) : *metadata}};
}

}  // namespace koord::apiserver
