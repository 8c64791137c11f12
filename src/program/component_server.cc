#include "program/component_server.h"

#include <utility>

#include "base/log.h"
#include "base/scope.h"
#include "kube/resources.h"
#include "kube/serving/host_policy.h"
#include "kube/serving/http_server.h"
#include "program/serving_identity.h"

namespace koord::program {
namespace {

constexpr Duration kCertificateCheck = std::chrono::minutes(1);
const kube::ObjectKey kClusterAuthentication{"kube-system", "extension-apiserver-authentication"};

ServingIdentity::Options IdentityOptions(const ComponentServer::Secure& secure) {
  const SecureServingOptions& options = secure.options;
  return {.program = secure.program,
          .certificate_file = options.certificate_file,
          .key_file = options.key_file,
          .client_ca_file = options.client_ca_file,
          .names = kube::LocalHostNames(),
          .only_tls_1_3 = options.min_tls_version == "VersionTLS13"};
}

// Probes, scrapes, people who look for something: few, and with hardly anything to say.
kube::SessionOptions SmallRequests() {
  kube::SessionOptions options;
  options.request.body_bytes = size_t{64} * 1024;
  options.body_budget = size_t{1} * 1024 * 1024;
  options.body_timeout = 10s;
  options.max_connections = 512;
  options.max_connections_per_peer = 128;
  options.max_connections_of_loopback = 512;
  options.max_streams = 64;
  return options;
}

class Server final : public ComponentServer {
 public:
  Server(AsioLoop& loop, kube::HttpHandler& api, kube::Client& client)
      : loop_(loop), api_(api), client_(client), check_(loop) {}

  Status StartPlain(const Plain& plain) {
    view_ = std::make_unique<PlainView>(api_, plain.view);
    ASSIGN_OR_RETURN(plain_, kube::HttpServer::Start(loop_,
                                                     {.address = plain.address,
                                                      .port = plain.port,
                                                      .allow_remote = true,
                                                      .any_host = true,
                                                      .session = SmallRequests()},
                                                     *view_));
    LOG_INFO("Serving insecurely", {"address", plain.address}, {"port", plain_->port()});
    return absl::OkStatus();
  }

  Status StartSecure(const Secure& secure) {
    auth_ = std::make_unique<DelegatedAuth>(client_, secure.options.auth, api_);
    identity_ = std::make_unique<ServingIdentity>(IdentityOptions(secure));
    lookup_ = !secure.options.skip_lookup;
    ASSIGN_OR_RETURN(shown_, identity_->Current(loop_.clock().Now()));
    ASSIGN_OR_RETURN(secure_, kube::HttpServer::Start(loop_,
                                                      {.address = secure.options.address,
                                                       .port = secure.port,
                                                       .allow_remote = true,
                                                       .tls = shown_,
                                                       .any_host = true,
                                                       .gate = auth_.get(),
                                                       .session = SmallRequests()},
                                                      *auth_));
    LOG_INFO("Serving securely", {"address", secure.options.address}, {"port", secure_->port()});
    CheckCertificates();
    return absl::OkStatus();
  }

  uint16_t plain_port() const override { return plain_ == nullptr ? 0 : plain_->port(); }
  uint16_t secure_port() const override { return secure_ == nullptr ? 0 : secure_->port(); }

  void CheckCertificates() override {
    if (secure_ == nullptr) return;
    check_.Set(kCertificateCheck, [this] { CheckCertificates(); });
    ShowCurrent();
    if (!lookup_) return;
    client_.Get(kube::kConfigMaps, kClusterAuthentication,
                scope_.Wrap([this](StatusOr<kube::Json> map) {
                  if (!map.ok()) {
                    LOG_V(2, "Cannot look up the CA of client certificates", {"err", map.status()});
                    return;
                  }
                  cluster_ca_ = kube::FindString(*map, {"data", "client-ca-file"});
                  ShowCurrent();
                }));
  }

  void Stop(Task done) override {
    check_.Cancel();
    stopped_ = std::move(done);
    stopping_ = 1;
    for (kube::HttpServer* server : {plain_.get(), secure_.get()}) {
      if (server == nullptr) continue;
      ++stopping_;
      server->Stop(scope_.Wrap([this] { OnStopped(); }));
    }
    OnStopped();
  }

 private:
  void ShowCurrent() {
    StatusOr<kube::TlsIdentity> current = identity_->Current(loop_.clock().Now(), cluster_ca_);
    if (current.ok() && *current == shown_) return;
    const Status status = current.ok() ? secure_->SetTls(*current) : current.status();
    if (!status.ok()) {
      LOG_ERROR("Cannot use new certificates, the old ones stay", {"err", status});
      return;
    }
    LOG_INFO("Using new certificates");
    shown_ = std::move(*current);
  }

  void OnStopped() {
    if (--stopping_ == 0) loop_.Post(std::move(stopped_));
  }

  AsioLoop& loop_;
  kube::HttpHandler& api_;
  kube::Client& client_;
  int stopping_ = 0;  // servers that are not yet stopped
  Task stopped_;
  bool lookup_ = false;
  std::string cluster_ca_;
  std::unique_ptr<PlainView> view_;
  std::unique_ptr<DelegatedAuth> auth_;
  std::unique_ptr<ServingIdentity> identity_;
  kube::TlsIdentity shown_;
  std::unique_ptr<kube::HttpServer> plain_;
  std::unique_ptr<kube::HttpServer> secure_;
  Timer check_;
  Scope scope_;
};

}  // namespace

StatusOr<std::unique_ptr<ComponentServer>> ComponentServer::Start(
    AsioLoop& loop, kube::HttpHandler& api, kube::Client& client, const std::optional<Plain>& plain,
    const std::optional<Secure>& secure) {
  auto server = std::make_unique<Server>(loop, api, client);
  if (plain) RETURN_IF_ERROR(server->StartPlain(*plain));
  if (secure) RETURN_IF_ERROR(server->StartSecure(*secure));
  return server;
}

}  // namespace koord::program
