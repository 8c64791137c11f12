#include "localcluster/apiserver/discovery/openapi_handler.h"

#include <utility>

#include "base/strings.h"
#include "localcluster/apiserver/http/respond.h"

namespace koord::apiserver {
namespace {

std::vector<ResourceInfoPtr> AllResources(const Registry& registry) {
  std::vector<ResourceInfoPtr> all;
  for (const ApiGroup& group : registry.groups()) {
    for (const ApiVersion& version : group.versions) {
      all.insert(all.end(), version.resources.begin(), version.resources.end());
    }
  }
  return all;
}

}  // namespace

OpenApiHandler::OpenApiHandler(Core& core)
    : core_(core), documents_([&core] { return AllResources(core.registry); }) {}

bool OpenApiHandler::Handle(Request& request) {
  if (request.http.method != "GET" || request.path.size() < 2 || request.path[0] != "openapi") {
    return false;
  }
  if (std::exchange(generation_, core_.registry.generation()) != core_.registry.generation()) {
    documents_.Invalidate();
  }
  if (request.path[1] == "v2" && request.path.size() == 2) {
    RespondV2(request);
  } else if (request.path[1] == "v3") {
    RespondV3(request);
  } else {
    return false;
  }
  return true;
}

void OpenApiHandler::RespondV2(Request& request) {
  const std::string_view accept = request.http.headers.Get("Accept");
  if (accept.find("proto-openapi.spec.v2") != std::string_view::npos) {
    return RespondDocument(request, documents_.V2Protobuf(), OpenApi::kV2ProtobufType);
  }
  RespondDocument(request, documents_.V2Json(), kJson);
}

void OpenApiHandler::RespondV3(Request& request) {
  const std::string path = Join(std::span(request.path).subspan(2), "/");
  if (path.empty()) return RespondDocument(request, documents_.V3Index(), kJson);
  const OpenApi::Document* document = documents_.V3(path);
  if (document == nullptr) return RespondNoSuchPath(core_, request);
  const std::string_view hash = request.query.Get("hash");
  if (hash.empty() || hash == document->etag) return RespondDocument(request, *document, kJson);
  kube::HttpResponse moved = ResponseHead(request, 301, kPlainText);
  moved.headers.Set("Location", documents_.V3Url(path));
  RespondWith(core_, request, std::move(moved));
}

void OpenApiHandler::RespondDocument(Request& request, const OpenApi::Document& document,
                                     std::string_view content_type) {
  const std::string etag = "\"" + document.etag + "\"";
  const bool known = request.http.headers.Get("If-None-Match") == etag;
  kube::HttpResponse response = ResponseHead(request, known ? 304 : 200, content_type);
  response.headers.Set("ETag", etag);
  response.headers.Set("Vary", "Accept");
  // An address with a hash always means the same document.
  if (request.query.Has("hash")) {
    response.headers.Set("Cache-Control", "public, immutable");
    response.headers.Set("Expires", "Thu, 31 Dec 2037 23:55:55 GMT");
  }
  if (!known) response.body = document.body;
  RespondWith(core_, request, std::move(response));
}

}  // namespace koord::apiserver
