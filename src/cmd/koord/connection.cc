#include "cmd/koord/connection.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <optional>

#include "base/version.h"
#include "kube/client/kubeconfig.h"
#include "localcluster/cluster/data_directory.h"

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
  ASSIGN_OR_RETURN(const kube::ClientConfig config,
                   kube::LoadClientConfig(
                       {.kubeconfig = ChooseKubeconfig(options), .context = options.context}));
  ASSIGN_OR_RETURN(auto transport, kube::MakeTransport(connection->loop_, config));
  connection->server_ = config.server;
  connection->client_ = std::make_unique<kube::Client>(
      connection->loop_, std::move(transport),
      kube::Client::Options{.user_agent = fmt::format("koord/{}", kVersion)});
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

StatusOr<kube::HttpResponse> Connection::Raw(const std::string& target) {
  kube::HttpRequest request;
  request.target = target;
  return Await<kube::HttpResponse>(
      loop_, [&](auto done) { client_->Raw(std::move(request), std::move(done)); });
}

}  // namespace koord::cli
