#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kube/client/client.h"
#include "kube/http.h"
#include "kube/serving/request_gate.h"

namespace koord::program {

struct DelegatedAuthOptions {
  // How long the API server's word is relied on.
  Duration token_ttl = std::chrono::seconds(10);
  Duration allowed_ttl = std::chrono::seconds(10);
  Duration denied_ttl = std::chrono::seconds(10);
  // Answered to anybody. "/x/*" is everything below /x/.
  std::vector<std::string> open_paths{"/healthz", "/readyz", "/livez"};
  std::vector<std::string> trusted_groups{"system:masters"};  // need not be asked about
};

// Where a bearer token is looked for besides Authorization, which the API server takes away from
// what it forwards to services and pods.
inline constexpr char kForwardedTokenHeader[] = "X-Koordinator-Token";

// Lets those in whom the cluster lets in: before a request reaches the handler behind, the API
// server is asked who its bearer token belongs to (TokenReview) and whether that user may do this
// (SubjectAccessReview). A client certificate that the carrier has verified does for a token. Who
// shows nothing is system:anonymous, who may do what the cluster allows to everybody.
//
// 401 for a token that nobody knows, 403 for what is not allowed, 500 if the API server cannot say.
// As a server's gate it says so before a body is read.
class DelegatedAuth final : public kube::HttpHandler, public kube::RequestGate {
 public:
  DelegatedAuth(kube::Client& client, DelegatedAuthOptions options, kube::HttpHandler& next);
  ~DelegatedAuth() override;

  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override;
  void Check(const kube::HttpRequest& head, Done done) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace koord::program
