#pragma once
#include <memory>
#include <string>

#include "base/asio_loop.h"
#include "base/status.h"
#include "kube/transport/client_config.h"
#include "kube/transport/server_url.h"
#include "kube/transport/transport.h"

// Finds out which API server to talk to, and as whom, the way kubectl and Kubernetes' controllers
// do. Errors name the file and the field, and say what to do.
namespace koord::kube {

struct ConfigOptions {
  std::string kubeconfig;  // --kubeconfig
  std::string master;      // --master: replaces the server's URL
  std::string context;     // --context: instead of the file's current-context

  // Where the rest comes from; tests bring their own.
  Environment environment = ProcessEnvironment;
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
};

// The first of these that is there: what the flags say, the cluster that this process runs in, the
// files that KUBECONFIG lists (merged: the first to name a thing wins, missing files are skipped),
// ~/.kube/config.
StatusOr<ClientConfig> LoadClientConfig(const ConfigOptions& options);

// What a pod knows of its cluster.
StatusOr<ClientConfig> InClusterConfig(const ConfigOptions& options);

// One kubeconfig's text; relative paths in it are taken from the folder of `path`.
StatusOr<ClientConfig> ParseKubeconfig(std::string_view text, const std::string& path,
                                       std::string_view context = {});

StatusOr<std::shared_ptr<Transport>> MakeTransport(AsioLoop& loop, const ClientConfig& config);

}  // namespace koord::kube
