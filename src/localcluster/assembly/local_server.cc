#include "localcluster/assembly/local_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/duration.h"
#include "base/log.h"
#include "base/scaled_loop.h"
#include "base/strings.h"
#include "kube/resources.h"
#include "kube/serving/http_server.h"
#include "kube/transport/http_transport.h"
#include "localcluster/apiserver/serving/authentication.h"
#include "localcluster/apiserver/serving/certificates.h"
#include "localcluster/apiserver/serving/service_account_tokens.h"
#include "localcluster/assembly/data_directory.h"
#include "localcluster/assembly/kept_date.h"

namespace koord::localcluster {
namespace {

using apiserver::ServiceAccountTokens;

constexpr Duration kReadyCheck = std::chrono::milliseconds(20);

// What TokenRequest.spec asks for, as claims.
ServiceAccountTokens::Claims ClaimsOf(const kube::Json& account, const kube::Json& spec,
                                      WallTime now) {
  constexpr int64_t kDefaultSeconds = 3600;
  constexpr int64_t kLeastSeconds = 600;
  ServiceAccountTokens::Claims claims;
  claims.ns = kube::FindString(account, {"metadata", "namespace"});
  claims.name = kube::FindString(account, {"metadata", "name"});
  claims.uid = kube::FindString(account, {"metadata", "uid"});
  if (const auto* audiences = kube::FindArray(spec, {"audiences"})) {
    for (const kube::Json& audience : *audiences) {
      if (audience.is_string())
        claims.audiences.emplace_back(std::string_view(audience.get_string()));
    }
  }
  if (const kube::Json* bound = kube::Find(spec, {"boundObjectRef"})) {
    claims.bound_to = {std::string(kube::FindString(*bound, {"kind"})),
                       std::string(kube::FindString(*bound, {"name"})),
                       std::string(kube::FindString(*bound, {"uid"}))};
  }
  const int64_t seconds = kube::FindInt(spec, {"expirationSeconds"}, kDefaultSeconds);
  claims.issued = now;
  claims.expires = now + BoundedSeconds(std::max(seconds, kLeastSeconds));
  return claims;
}

// A token is good for no longer than its account and what it was bound to.
bool IsAlive(const apiserver::ApiServer& api, const ServiceAccountTokens::Claims& claims) {
  if (!api.Has(kube::kServiceAccounts, {claims.ns, claims.name}, claims.uid)) return false;
  if (!claims.bound_to) return true;
  const auto& [kind, name, uid] = *claims.bound_to;
  for (const kube::Resource& resource : {kube::kPods, kube::kSecrets, kube::kNodes}) {
    if (resource.kind != kind) continue;
    return api.Has(resource, {resource.namespaced ? claims.ns : "", name}, uid);
  }
  return false;
}

// Services of the cluster may ask who calls; others are told nothing.
StatusOr<std::shared_ptr<kube::Transport>> ReachWebhook(AsioLoop& loop,
                                                        const apiserver::WebhookTarget& target,
                                                        const kube::KeyPair& identity) {
  kube::ClientConfig config;
  config.server = fmt::format("https://{}:{}", target.host, target.port);
  config.ca_data = target.ca_bundle;
  config.tls_server_name = target.server_name;
  if (target.server_name.ends_with(".svc")) {
    config.client_certificate_data = identity.certificate;
    config.client_key_data = identity.key;
  }
  return kube::HttpTransport::Make(loop, config);
}

class LocalServerImpl final : public LocalServer {
 public:
  LocalServerImpl(AsioLoop& loop, LocalServerOptions options, DataDirectory directory)
      : loop_(loop),
        options_(std::move(options)),
        directory_(std::move(directory)),
        date_(loop, directory_.File("date")),
        ready_timer_(loop),
        scaled_(loop, std::min(options_.speed, 1.0),
                options_.in_memory ? loop.clock().Now() : date_.Start()) {}

  Status Start() {
    ASSIGN_OR_RETURN(credentials_,
                     apiserver::LoadOrMakeCredentials(directory_.File("pki"), {options_.address},
                                                      loop_.clock().Now()));
    ASSIGN_OR_RETURN(tokens_, ServiceAccountTokens::Make(credentials_->service_account_key));
    if (!options_.in_memory && options_.speed > 1) date_.Follow(scaled_.clock(), options_.speed);
    RETURN_IF_ERROR(StartCluster());
    SpeedUpWhenReady();
    authenticator_ = std::make_unique<apiserver::Authenticator>(
        loop_.clock(),
        apiserver::Authenticator::Options{
            .tokens = {apiserver::AdminToken(credentials_->admin_token)},
            .service_accounts = tokens_.get(),
            .is_valid =
                [this](const ServiceAccountTokens::Claims& claims) {
                  return IsAlive(cluster_->api_server(), claims);
                }},
        cluster_->handler());
    RETURN_IF_ERROR(Listen());
    return apiserver::WriteAdminKubeconfig(kubeconfig(), *credentials_, server_->url());
  }

  LocalCluster& cluster() override { return *cluster_; }
  std::string url() const override { return server_->url(); }
  std::string kubeconfig() const override { return directory_.File("kubeconfig"); }
  void Stop(Task done) override {
    date_.Stop();
    cluster_->Shutdown();
    server_->Stop(std::move(done));
  }

 private:
  Status StartCluster() {
    LocalClusterOptions& options = options_.cluster;
    options.defaults = true;
    if (!options_.in_memory) options.database = directory_.File("state.db");
    options.api.webhooks.transport = [this](const apiserver::WebhookTarget& target) {
      return ReachWebhook(loop_, target, credentials_->admin);
    };
    options.sockets = &loop_;
    options.api.client_ca = credentials_->ca;
    options.api.issue_token = [this](const kube::Json& account, const kube::Json& spec) {
      return tokens_->Issue(ClaimsOf(account, spec, loop_.clock().Now()));
    };
    options.api.review_token = [this](std::string_view token) -> std::optional<kube::UserInfo> {
      StatusOr<kube::UserInfo> user = authenticator_->Review(token);
      if (!user.ok()) return {};
      return *std::move(user);
    };
    ASSIGN_OR_RETURN(cluster_, LocalCluster::Start(scaled_, options));
    return absl::OkStatus();
  }

  // There is much to do at first: time-outs had better be as long as they say.
  void SpeedUpWhenReady() {
    if (options_.speed <= 1) return;
    if (cluster_->ready()) return scaled_.SetSpeed(options_.speed);
    ready_timer_.Set(kReadyCheck, [this] { SpeedUpWhenReady(); });
  }

  Status Listen() {
    const std::string port_file = directory_.File("port");
    kube::HttpServer::Options options{.address = options_.address,
                                      .port = options_.port,
                                      .allow_remote = options_.allow_remote,
                                      .tls = credentials_->tls(),
                                      .gate = authenticator_.get()};
    // The same port as last time keeps clients and their kubeconfig copies working.
    if (options.port == 0) options.port = LastPort(port_file);
    auto server = kube::HttpServer::Start(loop_, options, *authenticator_);
    if (!server.ok() && options_.port == 0 && options.port != 0) {
      options.port = 0;
      server = kube::HttpServer::Start(loop_, options, *authenticator_);
    }
    RETURN_IF_ERROR(server.status());
    server_ = std::move(*server);
    std::ofstream(port_file) << server_->port() << "\n";
    return absl::OkStatus();
  }

  static uint16_t LastPort(const std::string& file) {
    std::ifstream in(file);
    uint16_t port = 0;
    in >> port;
    return in ? port : 0;
  }

  AsioLoop& loop_;
  LocalServerOptions options_;
  DataDirectory directory_;
  KeptDate date_;
  Timer ready_timer_;
  ScaledLoop scaled_;
  std::optional<apiserver::Credentials> credentials_;
  std::unique_ptr<ServiceAccountTokens> tokens_;
  std::unique_ptr<LocalCluster> cluster_;
  std::unique_ptr<apiserver::Authenticator> authenticator_;
  std::unique_ptr<kube::HttpServer> server_;
};

}  // namespace

StatusOr<std::unique_ptr<LocalServer>> LocalServer::Start(AsioLoop& loop,
                                                          LocalServerOptions options) {
  ASSIGN_OR_RETURN(DataDirectory directory, DataDirectory::Acquire(options.data_dir));
  auto server = std::make_unique<LocalServerImpl>(loop, std::move(options), std::move(directory));
  RETURN_IF_ERROR(server->Start());
  return server;
}

}  // namespace koord::localcluster
