#include "cli/scenario/kinds.h"

#include <algorithm>

#include "base/strings.h"
#include "base/suggest.h"

namespace koord::scenario {
namespace {

using kube::Json;

constexpr char kAggregated[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

StatusOr<Json> Discover(Environment& environment, std::string path) {
  return Await(environment, [&](kube::Client::Done done) {
    kube::HttpRequest request;
    request.target = path;
    request.headers.Set("Accept", kAggregated);
    environment.client().Raw(
        std::move(request),
        [done = std::move(done)](StatusOr<kube::HttpResponse> response) mutable {
          if (!response.ok()) return done(response.status());
          if (response->status != 200) {
            return done(kube::ToStatus(kube::ApiError::FromBody(response->status, response->body)));
          }
          done(kube::ParseJson(response->body));
        });
  });
}

const kube::json::array& List(const Json& value, std::string_view member) {
  static const kube::json::array kEmpty;
  const auto* list = kube::FindArray(value, {member});
  return list == nullptr ? kEmpty : *list;
}

void AddGroups(const Json& discovery, std::vector<kube::Resource>& resources) {
  for (const Json& group : List(discovery, "items")) {
    for (const Json& version : List(group, "versions")) {
      for (const Json& resource : List(version, "resources")) {
        resources.push_back({std::string(kube::FindString(group, {"metadata", "name"})),
                             std::string(kube::FindString(version, {"version"})),
                             std::string(kube::FindString(resource, {"resource"})),
                             std::string(kube::FindString(resource, {"responseKind", "kind"})),
                             kube::FindString(resource, {"scope"}) == "Namespaced"});
      }
    }
  }
}

}  // namespace

Status Kinds::Load() {
  std::vector<kube::Resource> resources;
  for (const char* path : {"/api", "/apis"}) {
    ASSIGN_OR_RETURN(const Json discovery, Discover(environment_, path));
    AddGroups(discovery, resources);
  }
  resources_ = std::move(resources);
  return absl::OkStatus();
}

StatusOr<const kube::Resource*> Kinds::Lookup(std::string_view api_version,
                                              std::string_view kind) const {
  std::vector<const kube::Resource*> found;
  for (const kube::Resource& resource : resources_) {
    if (resource.kind != kind) continue;
    if (!api_version.empty() && resource.api_version() != api_version) continue;
    // Discovery lists a group's preferred version first.
    const bool older = std::any_of(found.begin(), found.end(), [&](const auto* other) {
      return other->group == resource.group;
    });
    if (!older) found.push_back(&resource);
  }
  if (found.empty()) return nullptr;
  if (found.size() == 1 || found.front()->group.empty()) return found.front();
  std::vector<std::string> choices;
  for (const kube::Resource* resource : found) choices.push_back(resource->api_version());
  return InvalidArgument("kind {} is in several groups: say apiVersion, one of {}", kind,
                         Join(choices, ", "));
}

StatusOr<kube::Resource> Kinds::Find(std::string_view api_version, std::string_view kind) {
  ASSIGN_OR_RETURN(const kube::Resource* found, Lookup(api_version, kind));
  if (found == nullptr) {
    RETURN_IF_ERROR(Load());
    ASSIGN_OR_RETURN(found, Lookup(api_version, kind));
  }
  if (found != nullptr) return *found;
  std::vector<std::string> known;
  for (const kube::Resource& resource : resources_) known.push_back(resource.kind);
  const auto suggestion = Suggest(kind, known);
  return InvalidArgument("the cluster knows no kind {}{}{}", Quote(kind),
                         api_version.empty() ? "" : fmt::format(" in {}", api_version),
                         suggestion ? fmt::format("; did you mean {}?", *suggestion) : "");
}

}  // namespace koord::scenario
