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
    std::string etag;  // without quotes; the same for the same resources
  };

  // `resources` lists what is served now, all versions.
  explicit OpenApi(std::function<std::vector<ResourceInfoPtr>()> resources)
      : resources_(std::move(resources)) {}

  // A definition was added, changed or removed.
  void Invalidate();

  const Document& V2Json();
  // Asked for as application/com.github.proto-openapi.spec.v2@v1.0+protobuf. The answer must not be
  // called so, as Go's clients cannot parse that: see kV2ProtobufType.
  const Document& V2Protobuf();
  static constexpr std::string_view kV2ProtobufType =
      "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

  // {"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=..."}}}
  const Document& V3Index();
  // `path` is "api/v1" or "apis/<group>/<version>"; null if nothing is served there. The hash of
  // the index is the document's etag.
  const Document* V3(std::string_view path);
  // Where the current document is, for redirects of stale hashes; empty if there is none.
  std::string V3Url(std::string_view path);

 private:
  struct GroupVersion {
    std::vector<ResourceInfoPtr> resources;
    std::string hash;
    std::optional<Document> document;
  };
  using GroupVersions = std::map<std::string, GroupVersion, std::less<>>;

  GroupVersions& Groups();
  std::string HashOfAll();

  std::function<std::vector<ResourceInfoPtr>()> resources_;
  std::optional<GroupVersions> groups_;
  std::optional<Document> v2_json_, v2_protobuf_, v3_index_;
};

}  // namespace koord::apiserver
