#include "localcluster/apiserver/openapi/paths.h"

#include <string_view>
#include <utility>
#include <vector>

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

struct Parameter {
  std::string_view name, type, description;
};
constexpr Parameter kDryRun{"dryRun", "string", "All: go through everything, but store nothing."};
constexpr Parameter kFieldManager{"fieldManager", "string",
                                  "Who owns the fields that are written."};
constexpr Parameter kFieldValidation{"fieldValidation", "string",
                                     "Ignore, Warn or Strict: what to do about unknown fields."};
constexpr Parameter kForce{"force", "boolean", "Take over fields that others own (apply only)."};

class PathWriter {
 public:
  PathWriter(const ResourceInfo& info, OpenApiVersion version, OpenApiSchemas& definitions)
      : info_(info), version_(version), definitions_(definitions) {}

  Json Collection() {
    json::object item;
    if (info_.HasVerb("list")) item["get"] = Operation("list", {});
    if (info_.HasVerb("create")) item["post"] = Operation("post", WriteParameters());
    if (info_.HasVerb("deletecollection")) {
      item["delete"] = Operation("deletecollection", {kDryRun});
    }
    return item;
  }

  Json AllNamespaces() {
    json::object item;
    if (info_.HasVerb("list")) item["get"] = Operation("list", {});
    return item;
  }

  Json Item() {
    json::object item;
    if (info_.HasVerb("get")) item["get"] = Operation("get", {});
    if (info_.HasVerb("update")) item["put"] = Operation("put", WriteParameters());
    if (info_.HasVerb("delete")) item["delete"] = Operation("delete", {kDryRun});
    if (info_.HasVerb("patch")) item["patch"] = Patch();
    return item;
  }

 private:
  static std::vector<Parameter> WriteParameters() {
    return {kDryRun, kFieldManager, kFieldValidation};
  }

  json::object Operation(std::string_view action, const std::vector<Parameter>& parameters) const {
    json::object operation{{"responses", {{"200", {{"description", "OK"}}}}},
                           {"x-kubernetes-action", action},
                           {"x-kubernetes-group-version-kind", GroupVersionKind(info_.resource)}};
    if (parameters.empty()) return operation;
    json::array described;
    for (const Parameter& parameter : parameters) described.push_back(Describe(parameter));
    operation["parameters"] = std::move(described);
    return operation;
  }

  Json Describe(const Parameter& parameter) const {
    json::object described{
        {"name", parameter.name}, {"in", "query"}, {"description", parameter.description}};
    if (version_ == OpenApiVersion::kV2) {
      described["type"] = parameter.type;
      described["uniqueItems"] = true;
    } else {
      described["schema"] = json::object{{"type", parameter.type}, {"uniqueItems", true}};
    }
    return described;
  }

  Json Patch() {
    json::object operation = Operation("patch", {kDryRun, kFieldManager, kFieldValidation, kForce});
    std::vector<std::string_view> media_types = {"application/json-patch+json",
                                                 "application/merge-patch+json",
                                                 "application/apply-patch+yaml"};
    if (!info_.custom) media_types.push_back("application/strategic-merge-patch+json");
    if (version_ == OpenApiVersion::kV2) {
      json::array consumes;
      for (const std::string_view type : media_types) consumes.emplace_back(type);
      operation["consumes"] = std::move(consumes);
      return operation;
    }
    json::object content;
    for (const std::string_view type : media_types) {
      content[type] = json::object{{"schema", definitions_.PatchReference()}};
    }
    operation["requestBody"] = json::object{{"content", std::move(content)}, {"required", true}};
    return operation;
  }

  const ResourceInfo& info_;
  const OpenApiVersion version_;
  OpenApiSchemas& definitions_;
};

void AddPath(std::string path, Json item, json::object& paths) {
  if (!item.get_object().empty()) paths[path] = std::move(item);
}

}  // namespace

std::string GroupVersionPath(const kube::Resource& resource) {
  return resource.group.empty() ? "api/" + resource.version
                                : fmt::format("apis/{}/{}", resource.group, resource.version);
}

void AddPaths(const ResourceInfo& info, OpenApiVersion version, OpenApiSchemas& definitions,
              json::object& paths) {
  PathWriter writer(info, version, definitions);
  const std::string root = "/" + GroupVersionPath(info.resource);
  const std::string& resource = info.resource.resource;
  if (!info.resource.namespaced) {
    AddPath(fmt::format("{}/{}", root, resource), writer.Collection(), paths);
    AddPath(fmt::format("{}/{}/{{name}}", root, resource), writer.Item(), paths);
    return;
  }
  const std::string collection = fmt::format("{}/namespaces/{{namespace}}/{}", root, resource);
  AddPath(fmt::format("{}/{}", root, resource), writer.AllNamespaces(), paths);
  AddPath(collection, writer.Collection(), paths);
  AddPath(collection + "/{name}", writer.Item(), paths);
}

}  // namespace koord::apiserver
