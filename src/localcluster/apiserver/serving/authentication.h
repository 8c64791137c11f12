#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/http.h"
#include "kube/serving/request_gate.h"
#include "localcluster/apiserver/serving/service_account_tokens.h"

namespace koord::apiserver {

struct StaticToken {
  std::string token;
  kube::UserInfo user;
};
// Lines of `token,user,uid` or `token,user,uid,"group1,group2"`. An error names the line.
StatusOr<std::vector<StaticToken>> ParseTokenFile(std::string_view text);

// The administrator, as whom the admin token's bearer acts.
StaticToken AdminToken(std::string token);

// Finds out who asks before a request reaches the handler behind it.
//
// In this order: the client certificate that the carrier has verified (or the user that an
// in-process caller has set), a bearer token (static, or of a service account), and nobody, who may
// ask for the server's health and version only. A member of system:masters may act as somebody else
// with Impersonate-* headers. Everybody else gets 401; as a server's gate, before the body is read.
class Authenticator final : public kube::HttpHandler, public kube::RequestGate {
 public:
  struct Options {
    std::vector<StaticToken> tokens = {};
    const ServiceAccountTokens* service_accounts = nullptr;
    // Whether the account, and what the token is bound to, still exist. Not set: they do.
    std::function<bool(const ServiceAccountTokens::Claims&)> is_valid = {};
  };

  Authenticator(const Clock& clock, Options options, kube::HttpHandler& next);
  ~Authenticator() override;

  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override;
  void Check(const kube::HttpRequest& head, Done done) override;

  // Whom a bearer token stands for, as its requests would be seen.
  StatusOr<kube::UserInfo> Review(std::string_view token) const;

 private:
  class TokenCache;

  // As whom the request is to be answered, before impersonation; an error if it is not.
  StatusOr<kube::UserInfo> Identify(const kube::HttpRequest& request) const;
  // Nobody, if there is nothing to go by; an error if there is but it is wrong.
  StatusOr<std::optional<kube::UserInfo>> UserOf(const kube::HttpRequest& request) const;
  StatusOr<kube::UserInfo> UserOfToken(std::string_view token) const;
  StatusOr<kube::UserInfo> UserOfServiceAccount(std::string_view token,
                                                const std::string& digest) const;

  const Clock& clock_;
  const Options options_;
  const std::unique_ptr<TokenCache> verified_;
  kube::HttpHandler& next_;
};

}  // namespace koord::apiserver
