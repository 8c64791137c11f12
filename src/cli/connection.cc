#include "cli/connection.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <optional>

#include "base/version.h"
#include "kube/transport/kubeconfig.h"
#include "localcluster/assembly/data_directory.h"

namespace koord::cli {
namespace {

// The local cluster's, if one runs here and the user has not said otherwise.
std::string ChooseKubeconfig(const ConnectionOptions& options) {
  if (!options.kubeconfig.empty()) return options.kubeconfig;
  const char* from_environment = std::getenv("KUBECONFIG");
  if (from_environment != nullptr && *from_environment != '\0') return {};
  if (localcluster::DataDirectory::HeldBy(options.data_dir)) {
    return options.data_dir + "/kubeconfig";
  }
  return {};
}

StatusOr<std::unique_ptr<kube::Client>> MakeClient(AsioLoop& loop,
                                                   const kube::ClientConfig& config) {
  ASSIGN_OR_RETURN(auto transport, kube::MakeTransport(loop, config));
  return std::make_unique<kube::Client>(
      loop, std::move(transport),
      kube::Client::Options{.user_agent = fmt::format("koord/{}", kVersion)});
}

// How to reach another server as the user that a kubeconfig names.
kube::ClientConfig ConfigFor(const DirectAddress& address, const kube::ClientConfig& cluster) {
  kube::ClientConfig config;
  // What a secret is good for must not be read off the wire.
  if (address.url.starts_with("https://")) config = cluster;
  config.server = address.url;
  config.tls_server_name.clear();
  config.proxy_url.clear();
  config.insecure_skip_tls_verify = address.insecure_skip_tls_verify;
  if (!address.ca_file.empty() || address.insecure_skip_tls_verify) {
    config.ca_data.clear();
    config.ca_file = address.ca_file;
  }
  return config;
}

}  // namespace

void AddConnectionOptions(CLI::App& app, ConnectionOptions& options) {
  app.add_option("--kubeconfig", options.kubeconfig,
                 "cluster to ask; otherwise $KUBECONFIG, the cluster in --data-dir, "
                 "~/.kube/config");
  app.add_option("--context", options.context, "of the kubeconfig");
  app.add_option("--data-dir", options.data_dir, "of the local cluster")->capture_default_str();
}

StatusOr<std::unique_ptr<Connection>> Connection::Open(const ConnectionOptions& options) {
  std::unique_ptr<Connection> connection(new Connection());
  ASSIGN_OR_RETURN(connection->config_,
                   kube::LoadClientConfig(
                       {.kubeconfig = ChooseKubeconfig(options), .context = options.context}));
  connection->server_ = connection->config_.server;
  ASSIGN_OR_RETURN(connection->client_, MakeClient(connection->loop_, connection->config_));
  return connection;
}

namespace {

// Runs the loop until a call has answered.
template <class T, class Call>
StatusOr<T> Await(AsioLoop& loop, Call call) {
  std::optional<StatusOr<T>> answer;
  call([&](StatusOr<T> result) {
    answer = std::move(result);
    loop.Stop();
  });
  loop.Run();
  return std::move(*answer);
}

}  // namespace

StatusOr<kube::Json> Connection::List(const kube::Resource& resource, const std::string& ns,
                                      const kube::ListOptions& options) {
  return Await<kube::Json>(
      loop_, [&](auto done) { client_->List(resource, ns, options, std::move(done)); });
}

StatusOr<kube::Json> Connection::Get(const kube::Resource& resource, const kube::ObjectKey& key) {
  return Await<kube::Json>(loop_, [&](auto done) { client_->Get(resource, key, std::move(done)); });
}

StatusOr<kube::HttpResponse> Connection::RawAt(const DirectAddress& address,
                                               const std::string& target) {
  ASSIGN_OR_RETURN(const std::unique_ptr<kube::Client> client,
                   MakeClient(loop_, ConfigFor(address, config_)));
  kube::HttpRequest request;
  request.target = target;
  return Await<kube::HttpResponse>(
      loop_, [&](auto done) { client->Raw(std::move(request), std::move(done)); });
}

StatusOr<kube::HttpResponse> Connection::Raw(const std::string& target) {
  kube::HttpRequest request;
  request.target = target;
  return Raw(std::move(request));
}

StatusOr<kube::HttpResponse> Connection::Raw(kube::HttpRequest request) {
  return Await<kube::HttpResponse>(
      loop_, [&](auto done) { client_->Raw(std::move(request), std::move(done)); });
}

}  // namespace koord::cli
