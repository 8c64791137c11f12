#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/http.h"
#include "kube/json.h"
#include "localcluster/apiserver/admission/webhooks.h"

namespace koord::apiserver {

// A part of the cluster that /readyz asks about.
struct ReadinessCheck {
  std::string name;
  std::string missing;  // what it still waits for; empty: ready
};

struct ApiServerOptions {
  uint64_t seed = 1;  // of uids, generated names and watch time-outs
  std::string git_version = "v1.35.0+koordinator";
  std::string address = "127.0.0.1:6443";  // as discovery tells it
  // How webhooks are reached; without a transport they cannot be. What it cannot resolve
  // (NotFound), Service and Endpoints objects do.
  WebhookEnvironment webhooks;
  // Makes a token for a ServiceAccount as TokenRequest.spec asks. Null: tokens are not offered.
  std::function<StatusOr<std::string>(const kube::Json& account, const kube::Json& spec)>
      issue_token;
  // Tells who a bearer token stands for; null: TokenReviews know no token.
  std::function<std::optional<kube::UserInfo>(std::string_view token)> review_token;
  // CA of client certificates, in PEM; published for components that accept the same clients.
  std::string client_ca = {};
  Duration event_ttl = std::chrono::hours(1);
  // What has to be there besides the server before /readyz says ok; null: nothing.
  std::function<std::vector<ReadinessCheck>()> readiness = {};
};

}  // namespace koord::apiserver
