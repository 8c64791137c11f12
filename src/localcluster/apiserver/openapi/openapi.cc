#include "localcluster/apiserver/openapi/openapi.h"

#include <utility>

#include "localcluster/apiserver/openapi/paths.h"
#include "localcluster/apiserver/openapi/protobuf.h"
#include "localcluster/apiserver/openapi/schemas.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

// FNV-1a. Tells documents apart; nobody's secret hangs on it.
class Hash {
 public:
  Hash& Add(std::string_view text) {
    for (const char c : text) Step(static_cast<unsigned char>(c));
    Step(0x100);  // no byte: keeps "ab" + "c" apart from "a" + "bc"
    return *this;
  }
  std::string ToString() const { return fmt::format("{:016X}", state_); }

 private:
  void Step(uint64_t value) { state_ = (state_ ^ value) * 0x100000001b3; }

  uint64_t state_ = 0xcbf29ce484222325;
};

// What a document depends on: built-in types do not change while the server runs.
std::string HashOf(const std::vector<ResourceInfoPtr>& resources) {
  Hash hash;
  for (const ResourceInfoPtr& info : resources) {
    hash.Add(info->resource.api_version()).Add(info->resource.resource).Add(info->resource.kind);
    for (const std::string& verb : info->verbs) hash.Add(verb);
    if (info->custom) hash.Add(kube::Serialize(info->schema));
  }
  return hash.ToString();
}

Json Info() { return json::object{{"title", "Kubernetes"}, {"version", "v1.35.0"}}; }

Json MakeV2(const std::vector<ResourceInfoPtr>& resources) {
  OpenApiSchemas definitions(OpenApiVersion::kV2);
  json::object paths;
  for (const ResourceInfoPtr& info : resources) {
    definitions.AddResource(*info);
    AddPaths(*info, OpenApiVersion::kV2, definitions, paths);
  }
  return json::object{{"swagger", "2.0"},
                      {"info", Info()},
                      {"paths", std::move(paths)},
                      {"definitions", definitions.Take()}};
}

Json MakeV3(const std::vector<ResourceInfoPtr>& resources) {
  OpenApiSchemas definitions(OpenApiVersion::kV3);
  json::object paths;
  for (const ResourceInfoPtr& info : resources) {
    definitions.AddResource(*info);
    AddPaths(*info, OpenApiVersion::kV3, definitions, paths);
  }
  return json::object{{"openapi", "3.0.0"},
                      {"info", Info()},
                      {"paths", std::move(paths)},
                      {"components", json::object{{"schemas", definitions.Take()}}}};
}

std::string UrlOf(std::string_view path, std::string_view hash) {
  return fmt::format("/openapi/v3/{}?hash={}", path, hash);
}

}  // namespace

void OpenApi::Invalidate() {
  // Documents of groups that have not changed are kept.
  v2_json_.reset();
  v2_protobuf_.reset();
  v3_index_.reset();
  auto before = std::exchange(groups_, std::nullopt);
  if (!before) return;
  for (auto& [path, group] : Groups()) {
    const auto old = before->find(path);
    if (old != before->end() && old->second.hash == group.hash) {
      group.document = std::move(old->second.document);
    }
  }
}

OpenApi::GroupVersions& OpenApi::Groups() {
  if (groups_) return *groups_;
  groups_.emplace();
  for (ResourceInfoPtr& info : resources_()) {
    (*groups_)[GroupVersionPath(info->resource)].resources.push_back(std::move(info));
  }
  for (auto& [path, group] : *groups_) group.hash = HashOf(group.resources);
  return *groups_;
}

std::string OpenApi::HashOfAll() {
  Hash hash;
  for (const auto& [path, group] : Groups()) hash.Add(path).Add(group.hash);
  return hash.ToString();
}

const OpenApi::Document& OpenApi::V2Json() {
  if (!v2_json_) v2_json_ = Document{kube::Serialize(MakeV2(resources_())), HashOfAll()};
  return *v2_json_;
}

const OpenApi::Document& OpenApi::V2Protobuf() {
  if (!v2_protobuf_) v2_protobuf_ = Document{EncodeOpenApiV2(MakeV2(resources_())), HashOfAll()};
  return *v2_protobuf_;
}

const OpenApi::Document& OpenApi::V3Index() {
  if (v3_index_) return *v3_index_;
  json::object paths;
  for (const auto& [path, group] : Groups()) {
    paths[path] = json::object{{"serverRelativeURL", UrlOf(path, group.hash)}};
  }
  v3_index_ = Document{kube::Serialize(json::object{{"paths", std::move(paths)}}), HashOfAll()};
  return *v3_index_;
}

const OpenApi::Document* OpenApi::V3(std::string_view path) {
  const auto found = Groups().find(path);
  if (found == Groups().end()) return nullptr;
  GroupVersion& group = found->second;
  if (!group.document) {
    group.document = Document{kube::Serialize(MakeV3(group.resources)), group.hash};
  }
  return &*group.document;
}

std::string OpenApi::V3Url(std::string_view path) {
  const auto found = Groups().find(path);
  return found == Groups().end() ? "" : UrlOf(path, found->second.hash);
}

}  // namespace koord::apiserver
