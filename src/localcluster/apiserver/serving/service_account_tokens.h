#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/http.h"

namespace koord::apiserver {

// Signs and checks the tokens that service accounts prove themselves with (JWT, ES256), as the
// TokenRequest API hands them out.
class ServiceAccountTokens {
 public:
  struct BoundObject {
    std::string kind;  // "Pod", "Node", "Secret"
    std::string name;
    std::string uid;
  };
  struct Claims {
    std::string ns, name, uid;           // of the service account
    std::vector<std::string> audiences;  // none: the API server itself
    std::optional<BoundObject> bound_to = {};
    WallTime issued = {};
    WallTime expires = {};
    std::string id = {};  // of the token; made up by Issue if empty

    // As the API server sees its bearer: "system:serviceaccount:<ns>:<name>".
    kube::UserInfo user() const;
  };

  static constexpr std::string_view kDefaultAudience = "https://kubernetes.default.svc";

  // `key` is a P-256 private key in PEM.
  static StatusOr<std::unique_ptr<ServiceAccountTokens>> Make(const std::string& key);
  virtual ~ServiceAccountTokens() = default;

  virtual StatusOr<std::string> Issue(Claims claims) const = 0;

  // kUnauthenticated, saying why, for tokens of others, altered ones, and those past their time.
  // The caller checks the audience, and that the account still exists.
  virtual StatusOr<Claims> Verify(std::string_view token, WallTime now) const = 0;
};

}  // namespace koord::apiserver
