#include "localcluster/apiserver/http/routing.h"

#include <algorithm>
#include <span>

#include "localcluster/apiserver/core/errors.h"

namespace koord::apiserver {
namespace {

using Segments = std::span<const std::string>;

bool IsNamespaceSubresource(std::string_view name) {
  return name == "status" || name == "finalize";
}

// Takes the group and version off the front.
bool TakeVersion(Segments& rest, std::string_view& group, std::string_view& version) {
  if (rest.size() >= 2 && rest[0] == "api") {
    version = rest[1];
    rest = rest.subspan(2);
    return true;
  }
  if (rest.size() >= 3 && rest[0] == "apis") {
    group = rest[1];
    version = rest[2];
    rest = rest.subspan(3);
    return true;
  }
  return false;
}

// "namespaces/<ns>/<resource>/..." is about the resource; "namespaces/<ns>" and its subresources
// are about the namespace itself.
std::string TakeNamespace(Segments& rest) {
  if (rest.size() < 3 || rest[0] != "namespaces") return "";
  if (rest.size() == 3 && IsNamespaceSubresource(rest[2])) return "";
  std::string ns = rest[1];
  rest = rest.subspan(2);
  return ns;
}

std::string_view VerbOf(const Request& request, bool deprecated_watch) {
  const std::string& method = request.http.method;
  const bool whole = request.name.empty();
  if (method == "GET") {
    if (deprecated_watch) return "watch";
    if (request.subresource.empty() && request.query.IsTrue("watch")) return "watch";
    return whole ? "list" : "get";
  }
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return whole ? "deletecollection" : "delete";
  return "";
}

// Which verbs a URL of this form can have at all.
bool FormAllows(const Request& request, std::string_view verb) {
  const bool whole = request.name.empty();
  if (!request.subresource.empty()) return true;
  if (whole && (verb == "update" || verb == "patch")) return false;
  if (!whole && verb == "create") return false;
  const bool all_namespaces = whole && request.info->resource.namespaced && request.ns.empty();
  return !all_namespaces || verb == "list" || verb == "watch";
}

bool Declares(const Request& request, std::string_view verb) {
  if (request.subresource.empty()) return request.info->HasVerb(verb);
  const Subresource* subresource = request.info->FindSubresource(request.subresource);
  return std::find(subresource->verbs.begin(), subresource->verbs.end(), verb) !=
         subresource->verbs.end();
}

}  // namespace

Status Route(const Registry& registry, Request& request) {
  Segments rest(request.path);
  std::string_view group;
  std::string_view version;
  if (!TakeVersion(rest, group, version)) return absl::NotFoundError("");
  if (!registry.Serves(group, version)) return absl::NotFoundError("");

  const bool deprecated_watch = !rest.empty() && rest[0] == "watch";
  if (deprecated_watch) rest = rest.subspan(1);
  request.ns = TakeNamespace(rest);
  if (rest.empty() || rest.size() > 3) return UnknownEndpoint();
  request.info = registry.Find(group, version, rest[0]);
  if (request.info == nullptr) return UnknownEndpoint();
  if (rest.size() > 1) request.name = rest[1];
  if (rest.size() > 2) request.subresource = rest[2];

  const bool namespaced = request.info->resource.namespaced;
  if (!namespaced && !request.ns.empty()) return UnknownEndpoint();
  if (namespaced && request.ns.empty() && !request.name.empty()) return UnknownEndpoint();
  if (!request.subresource.empty() &&
      request.info->FindSubresource(request.subresource) == nullptr) {
    return UnknownEndpoint();
  }

  const std::string_view verb = VerbOf(request, deprecated_watch);
  if (verb.empty() || !FormAllows(request, verb) || !Declares(request, verb)) {
    return MethodNotAllowed();
  }
  request.verb = verb;
  return absl::OkStatus();
}

}  // namespace koord::apiserver
