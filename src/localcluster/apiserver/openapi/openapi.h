#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "localcluster/apiserver/registry/resource_info.h"

namespace koord::apiserver {

// The description of the API that kubectl validates and explains with: OpenAPI v2 as one document
// (JSON, and the protobuf form that older kubectls insist on), v3 as one document a group version.
// Each is made when first asked for and kept until the set of resources changes.
class OpenApi {
 public:
  struct Document {
    std::string body;
    std::string etag;  // a hash of the body, without quotes
  };

  // `resources` lists what is served now, all versions.
  explicit OpenApi(std::function<std::vector<ResourceInfoPtr>()> resources);

  // A definition was added, changed or removed.
  void Invalidate();

  const Document& V2Json();
  // application/com.github.proto-openapi.spec.v2@v1.0+protobuf
  const Document& V2Protobuf();

  // {"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=..."}}}
  const Document& V3Index();
  // `path` is "api/v1" or "apis/<group>/<version>"; null if nothing is served there. The hash of
  // the index is the document's etag.
  const Document* V3(std::string_view path);
  // Where the current document is: "/openapi/v3/api/v1?hash=..."; for redirects of stale hashes.
  std::string V3Url(std::string_view path);

 private:
  const std::map<std::string, std::vector<ResourceInfoPtr>, std::less<>>& Groups();

  std::function<std::vector<ResourceInfoPtr>()> resources_;
  std::optional<std::map<std::string, std::vector<ResourceInfoPtr>, std::less<>>> groups_;
  std::optional<Document> v2_json_, v2_protobuf_, v3_index_;
  std::map<std::string, Document, std::less<>> v3_;
};

}  // namespace koord::apiserver
