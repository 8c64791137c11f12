#include "localcluster/apiserver/crd/definition.h"

#include <algorithm>

#include "base/strings.h"
#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/registry.h"

namespace koord::apiserver {
namespace {

const json::array& VersionsOf(const Json& crd) {
  static const json::array& kNone = *new json::array;
  const json::array* versions = kube::FindArray(crd, {"spec", "versions"});
  return versions == nullptr ? kNone : *versions;
}

std::vector<std::string> Strings(const Json& crd, std::initializer_list<std::string_view> path) {
  std::vector<std::string> strings;
  if (const json::array* items = kube::FindArray(crd, path)) {
    for (const Json& item : *items) strings.emplace_back(kube::FindString(item, {}));
  }
  return strings;
}

std::vector<PrinterColumn> ColumnsOf(const Json& version) {
  std::vector<PrinterColumn> columns;
  if (const json::array* declared = kube::FindArray(version, {"additionalPrinterColumns"})) {
    for (const Json& column : *declared) {
      columns.push_back({std::string(kube::FindString(column, {"name"})),
                         std::string(kube::FindString(column, {"type"})),
                         std::string(kube::FindString(column, {"format"})),
                         std::string(kube::FindString(column, {"description"})),
                         std::string(kube::FindString(column, {"jsonPath"})),
                         static_cast<int>(kube::FindInt(column, {"priority"}))});
    }
  }
  if (columns.empty()) {
    columns.push_back({"Age", "date", "", "", ".metadata.creationTimestamp", 0});
  }
  return columns;
}

std::vector<Subresource> SubresourcesOf(const Json& version, const kube::Resource& resource) {
  std::vector<Subresource> subresources;
  const std::vector<std::string> verbs = {"get", "patch", "update"};
  if (kube::FindObject(version, {"subresources", "status"}) != nullptr) {
    subresources.push_back({"status", resource, verbs});
  }
  if (kube::FindObject(version, {"subresources", "scale"}) != nullptr) {
    subresources.push_back(
        {"scale", {"autoscaling", "v1", resource.resource, "Scale", resource.namespaced}, verbs});
  }
  return subresources;
}

// ".spec.color" is selected as spec.color.
std::vector<SelectableField> SelectableFieldsOf(const Json& version) {
  std::vector<SelectableField> fields;
  if (const json::array* declared = kube::FindArray(version, {"selectableFields"})) {
    for (const Json& field : *declared) {
      std::string_view path = kube::FindString(field, {"jsonPath"});
      if (path.starts_with('.')) path.remove_prefix(1);
      SelectableField& selectable = fields.emplace_back();
      selectable.name = path;
      for (const std::string_view step : Split(path, '.')) selectable.path.emplace_back(step);
    }
  }
  return fields;
}

std::string DeprecationWarning(const Json& version, const kube::Resource& resource) {
  if (!kube::FindBool(version, {"deprecated"})) return {};
  const std::string_view warning = kube::FindString(version, {"deprecationWarning"});
  if (!warning.empty()) return std::string(warning);
  return fmt::format("{} {} is deprecated", resource.api_version(), resource.kind);
}

ResourceInfoPtr InfoOf(const Json& crd, const Json& version, std::string_view storage_version) {
  auto info = std::make_shared<ResourceInfo>();
  info->resource = {std::string(kube::FindString(crd, {"spec", "group"})),
                    std::string(kube::FindString(version, {"name"})),
                    std::string(kube::FindString(crd, {"spec", "names", "plural"})),
                    std::string(kube::FindString(crd, {"spec", "names", "kind"})),
                    kube::FindString(crd, {"spec", "scope"}) == "Namespaced"};
  info->singular = kube::FindString(crd, {"spec", "names", "singular"});
  info->list_kind = kube::FindString(crd, {"spec", "names", "listKind"});
  info->short_names = Strings(crd, {"spec", "names", "shortNames"});
  info->categories = Strings(crd, {"spec", "names", "categories"});
  info->verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  info->subresources = SubresourcesOf(version, info->resource);
  info->selectable_fields = SelectableFieldsOf(version);
  info->storage_api_version = fmt::format("{}/{}", info->resource.group, storage_version);
  info->custom = true;
  if (const Json* schema = kube::Find(version, {"schema", "openAPIV3Schema"})) {
    info->schema = *schema;
  }
  info->columns = ColumnsOf(version);
  info->deprecation_warning = DeprecationWarning(version, info->resource);
  return info;
}

StatusOr<std::optional<ScalePaths>> ScaleOf(const Json& version) {
  const Json* scale = kube::Find(version, {"subresources", "scale"});
  if (scale == nullptr || !scale->is_object()) return std::nullopt;
  ASSIGN_OR_RETURN(JsonPath spec, JsonPath::Parse(kube::FindString(*scale, {"specReplicasPath"})));
  ASSIGN_OR_RETURN(JsonPath status,
                   JsonPath::Parse(kube::FindString(*scale, {"statusReplicasPath"})));
  ScalePaths paths{std::move(spec), std::move(status), std::nullopt};
  const std::string_view selector = kube::FindString(*scale, {"labelSelectorPath"});
  if (!selector.empty()) {
    ASSIGN_OR_RETURN(paths.label_selector, JsonPath::Parse(selector));
  }
  return paths;
}

StatusOr<CustomVersion> CompileVersion(const Json& crd, const Json& version, size_t index,
                                       std::string_view storage_version) {
  FieldErrors errors;
  CustomVersion compiled;
  compiled.info = InfoOf(crd, version, storage_version);
  compiled.schema = StructuralSchema::Compile(
      compiled.info->schema, fmt::format("spec.versions[{}].schema.openAPIV3Schema", index),
      errors);
  if (compiled.schema == nullptr) return InvalidArgument("{}", errors.front().ToString());
  compiled.served = kube::FindBool(version, {"served"});
  compiled.storage = kube::FindBool(version, {"storage"});
  ASSIGN_OR_RETURN(compiled.scale, ScaleOf(version));
  return compiled;
}

std::string_view StorageVersionOf(const Json& crd) {
  for (const Json& version : VersionsOf(crd)) {
    if (kube::FindBool(version, {"storage"})) return kube::FindString(version, {"name"});
  }
  return {};
}

}  // namespace

void DefaultDefinition(Json& crd) {
  if (!crd.is_object()) return;
  EditObject(crd.get_object(), "spec", [](json::object& spec) {
    EditObject(spec, "names", [](json::object& names) {
      const std::string kind(StringAt(names, "kind"));
      if (kind.empty()) return;
      SetIfUnset(names, "singular", ToLower(kind));
      SetIfUnset(names, "listKind", kind + "List");
    });
    MakeObject(spec, "conversion",
               [](json::object& conversion) { SetIfUnset(conversion, "strategy", "None"); });
  });
}

std::vector<std::string> DefinitionWarnings(const Json& crd) {
  const auto& versions = VersionsOf(crd);
  for (size_t i = 0; i < versions.size(); ++i) {
    const Json* schema = kube::Find(versions[i], {"schema", "openAPIV3Schema"});
    FieldErrors ignored;
    const auto compiled =
        schema == nullptr ? nullptr : StructuralSchema::Compile(*schema, "", ignored);
    if (compiled != nullptr && compiled->has_rules()) {
      return {"x-kubernetes-validations are not enforced"};
    }
  }
  return {};
}

const CustomVersion* CustomResource::Find(std::string_view version) const {
  for (const CustomVersion& candidate : versions) {
    if (candidate.info->resource.version == version) return &candidate;
  }
  return nullptr;
}

const CustomVersion& CustomResource::storage() const {
  return *std::find_if(versions.begin(), versions.end(),
                       [](const CustomVersion& version) { return version.storage; });
}

StatusOr<std::shared_ptr<const CustomResource>> CustomResource::Compile(const Json& crd) {
  const std::string_view storage_version = StorageVersionOf(crd);
  if (storage_version.empty()) {
    return InvalidArgument("spec.versions: no version is marked as storage version");
  }
  auto custom = std::make_shared<CustomResource>();
  custom->group = kube::FindString(crd, {"spec", "group"});
  custom->name = kube::FindString(crd, {"metadata", "name"});
  const auto& versions = VersionsOf(crd);
  for (size_t i = 0; i < versions.size(); ++i) {
    ASSIGN_OR_RETURN(CustomVersion version, CompileVersion(crd, versions[i], i, storage_version));
    custom->versions.push_back(std::move(version));
  }
  std::sort(custom->versions.begin(), custom->versions.end(),
            [](const CustomVersion& a, const CustomVersion& b) {
              return PreferredVersion(a.info->resource.version, b.info->resource.version);
            });
  return custom;
}

void ConvertVersion(Json& object, std::string_view api_version) {
  if (object.is_object()) object.get_object()["apiVersion"] = api_version;
}

}  // namespace koord::apiserver
