#include "localcluster/apiserver/discovery/discovery.h"

#include <optional>

#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/http/respond.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

json::array Strings(const std::vector<std::string>& items) {
  return json::array(items.begin(), items.end());
}

std::string GroupVersion(const std::string& group, const std::string& version) {
  return group.empty() ? version : group + "/" + version;
}

void AddNames(json::object& entry, const ResourceInfo& info) {
  if (!info.short_names.empty()) entry["shortNames"] = Strings(info.short_names);
  if (!info.categories.empty()) entry["categories"] = Strings(info.categories);
}

// --- one document a level

json::object LegacyGroup(const ApiGroup& group) {
  json::array versions;
  for (const ApiVersion& version : group.versions) {
    versions.push_back(json::object{{"groupVersion", GroupVersion(group.name, version.version)},
                                    {"version", version.version}});
  }
  json::value preferred = versions.front();
  return {{"name", group.name},
          {"versions", std::move(versions)},
          {"preferredVersion", std::move(preferred)}};
}

Json LegacyVersions(const std::string& address) {
  return json::object{
      {"kind", "APIVersions"},
      {"versions", json::array{"v1"}},
      {"serverAddressByClientCIDRs",
       json::array{json::object{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", address}}}}};
}

Json LegacyGroups(const Registry& registry) {
  json::array groups;
  for (const ApiGroup& group : registry.groups()) {
    if (!group.name.empty()) groups.push_back(LegacyGroup(group));
  }
  return json::object{
      {"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

json::object LegacyResource(const ResourceInfo& info) {
  json::object entry{{"name", info.resource.resource},
                     {"singularName", info.singular},
                     {"namespaced", info.resource.namespaced},
                     {"kind", info.resource.kind},
                     {"verbs", Strings(info.verbs)}};
  AddNames(entry, info);
  return entry;
}

json::object LegacySubresource(const ResourceInfo& info, const Subresource& subresource) {
  json::object entry{{"name", info.resource.resource + "/" + subresource.name},
                     {"singularName", ""},
                     {"namespaced", info.resource.namespaced}};
  if (subresource.kind.group != info.resource.group ||
      subresource.kind.version != info.resource.version) {
    entry["group"] = subresource.kind.group;
    entry["version"] = subresource.kind.version;
  }
  entry["kind"] = subresource.kind.kind;
  entry["verbs"] = Strings(subresource.verbs);
  return entry;
}

Json LegacyResources(const ApiGroup& group, const ApiVersion& version) {
  json::array resources;
  for (const ResourceInfoPtr& info : version.resources) {
    resources.push_back(LegacyResource(*info));
    for (const Subresource& subresource : info->subresources) {
      resources.push_back(LegacySubresource(*info, subresource));
    }
  }
  return json::object{{"kind", "APIResourceList"},
                      {"apiVersion", "v1"},
                      {"groupVersion", GroupVersion(group.name, version.version)},
                      {"resources", std::move(resources)}};
}

// --- everything at once

json::object ResponseKind(const kube::Resource& resource) {
  return {{"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}};
}

json::object AggregatedResource(const ResourceInfo& info) {
  json::object entry{{"resource", info.resource.resource},
                     {"responseKind", ResponseKind(info.resource)},
                     {"scope", info.resource.namespaced ? "Namespaced" : "Cluster"},
                     {"singularResource", info.singular},
                     {"verbs", Strings(info.verbs)}};
  AddNames(entry, info);
  json::array subresources;
  for (const Subresource& subresource : info.subresources) {
    subresources.push_back(json::object{{"subresource", subresource.name},
                                        {"responseKind", ResponseKind(subresource.kind)},
                                        {"verbs", Strings(subresource.verbs)}});
  }
  if (!subresources.empty()) entry["subresources"] = std::move(subresources);
  return entry;
}

json::object AggregatedGroup(const ApiGroup& group) {
  json::array versions;
  for (const ApiVersion& version : group.versions) {
    json::array resources;
    for (const ResourceInfoPtr& info : version.resources) {
      resources.push_back(AggregatedResource(*info));
    }
    versions.push_back(json::object{{"version", version.version},
                                    {"freshness", "Current"},
                                    {"resources", std::move(resources)}});
  }
  json::object metadata;
  if (!group.name.empty()) metadata["name"] = group.name;
  return {{"metadata", std::move(metadata)}, {"versions", std::move(versions)}};
}

// The version of the aggregated form that the client prefers to the plain one.
std::optional<std::string> WantsAggregated(const Request& request) {
  for (const MediaType& media : ParseAccept(request.http.headers.Get("Accept"))) {
    if (media.type != "application/json") continue;
    if (media.Get("as").empty()) return {};
    const std::string_view version = media.Get("v");
    const bool known = version == "v2" || version == "v2beta1";
    if (media.Get("g") == "apidiscovery.k8s.io" && media.Get("as") == "APIGroupDiscoveryList" &&
        known) {
      return std::string(version);
    }
  }
  return {};
}

}  // namespace

bool Discovery::Handle(Request& request) {
  const auto& path = request.path;
  const bool core_group = !path.empty() && path[0] == "api";
  if (path.empty() || (!core_group && path[0] != "apis")) return false;
  if (path.size() > (core_group ? 2u : 3u)) return false;
  if (request.http.method != "GET") {
    RespondError(core_, request, MethodNotAllowed());
    return true;
  }
  if (path.size() == 1) {
    if (const auto version = WantsAggregated(request)) {
      RespondAggregated(request, core_group, *version);
      return true;
    }
    const Json body =
        core_group ? LegacyVersions(core_.options.address) : LegacyGroups(core_.registry);
    Respond(core_, request, 200, kube::Serialize(body));
    return true;
  }
  const ApiGroup* group = core_.registry.FindGroup(core_group ? "" : path[1]);
  if (group == nullptr) return false;
  if (!core_group && path.size() == 2) {
    json::object body = LegacyGroup(*group);
    body["kind"] = "APIGroup";
    body["apiVersion"] = "v1";
    Respond(core_, request, 200, kube::Serialize(body));
    return true;
  }
  for (const ApiVersion& version : group->versions) {
    if (version.version != path.back()) continue;
    Respond(core_, request, 200, kube::Serialize(LegacyResources(*group, version)));
    return true;
  }
  return false;
}

void Discovery::RespondAggregated(Request& request, bool core_group, const std::string& version) {
  const Aggregated& document = AggregatedFor(core_group, version);
  const std::string content_type =
      "application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList";
  const bool known = request.http.headers.Get("If-None-Match") == document.etag;
  kube::HttpResponse response = ResponseHead(request, known ? 304 : 200, content_type);
  response.headers.Add("ETag", document.etag);
  response.headers.Add("Vary", "Accept");
  if (!known) response.body = document.body;
  RespondWith(core_, request, std::move(response));
}

const Discovery::Aggregated& Discovery::AggregatedFor(bool core_group, const std::string& version) {
  if (generation_ != core_.registry.generation()) {
    generation_ = core_.registry.generation();
    aggregated_.clear();
  }
  auto [it, made] = aggregated_.try_emplace({core_group, version});
  if (!made) return it->second;
  json::array items;
  for (const ApiGroup& group : core_.registry.groups()) {
    if (group.name.empty() == core_group) items.push_back(AggregatedGroup(group));
  }
  it->second.body = kube::Serialize(json::object{{"kind", "APIGroupDiscoveryList"},
                                                 {"apiVersion", "apidiscovery.k8s.io/" + version},
                                                 {"metadata", json::object()},
                                                 {"items", std::move(items)}});
  it->second.etag = fmt::format("\"{:016X}\"", std::hash<std::string>{}(it->second.body));
  return it->second;
}

}  // namespace koord::apiserver
