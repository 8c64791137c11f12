#pragma once
#include <absl/functional/any_invocable.h>

#include <functional>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/metrics/metrics.h"
#include "base/status.h"
#include "koordlet/host/file_tree.h"
#include "koordlet/informers/pod_list.h"
#include "kube/objects/node.h"
#include "kube/transport/client_config.h"
#include "kube/transport/transport.h"

// The kubelet of this node, asked over HTTPS for its pods and its configuration.
namespace koord::koordlet {

struct KubeletOptions {
  std::string address_type = "InternalIP";  // an unknown one counts as InternalIP
  bool plain_http = false;                  // to the read-only port
  int read_only_port = 10255;
  bool skip_verify = false;  // of the kubelet's certificate
  std::string ca_file;       // that signs it; empty: the cluster's
};

// How to reach the kubelet of `node` as the one whom `api` lets in. The certificate is checked
// unless options say otherwise.
StatusOr<kube::ClientConfig> KubeletClientConfig(const kube::Node& node,
                                                 const kube::ClientConfig& api,
                                                 const KubeletOptions& options);

// What koordlet wants to know of the kubelet's configuration.
struct KubeletConfig {
  std::string cpu_manager_policy;
  kube::Labels cpu_manager_policy_options;
  std::string topology_manager_policy;
  std::string topology_manager_scope;
  std::string reserved_system_cpus;
  kube::Labels system_reserved;
  kube::Labels kube_reserved;

  static void Fields(auto& self, auto&& field) {
    field("cpuManagerPolicy", self.cpu_manager_policy);
    field("cpuManagerPolicyOptions", self.cpu_manager_policy_options);
    field("topologyManagerPolicy", self.topology_manager_policy);
    field("topologyManagerScope", self.topology_manager_scope);
    field("reservedSystemCPUs", self.reserved_system_cpus);
    field("systemReserved", self.system_reserved);
    field("kubeReserved", self.kube_reserved);
  }
  bool operator==(const KubeletConfig&) const = default;
};

// The answer to /configz.
StatusOr<KubeletConfig> ParseKubeletConfig(std::string_view text);

// The same as it is in the file that kubeadm, kind and minikube start kubelets with, in the
// kubelet's directory. What the kubelet runs with may differ: by flags, or since it was started.
StatusOr<KubeletConfig> ReadKubeletConfigFile(const FileTree& kubelet_files);

class KubeletClient {
 public:
  using Connect = std::function<StatusOr<std::shared_ptr<kube::Transport>>(const kube::Node&)>;
  template <class T>
  using Done = absl::AnyInvocable<void(StatusOr<T>)>;
  // Another way to GET a path of the kubelet.
  using Detour = std::function<void(std::string_view path, kube::Transport::Done done)>;

  // `connect` is asked once the node is known, and again when it is found elsewhere. Within
  // `timeout` the kubelet has to say something, and within ten of them everything. `registry` may
  // be null.
  KubeletClient(EventLoop& loop, Connect connect, Duration timeout, metrics::Registry* registry);
  ~KubeletClient();

  // Fails where the node says nothing of how to reach it.
  Status SetNode(const kube::Node& node);
  bool connected() const { return transport_ != nullptr; }
  // From now on the kubelet's configuration is asked for in this way.
  void SetDetour(Detour detour) { detour_ = std::move(detour); }

  // Errors name what was asked for; a refusal is PermissionDenied. One list at a time, which is
  // read as it comes.
  void GetPods(Done<PodList> done);
  void GetConfig(Done<KubeletConfig> done);

 private:
  struct Listing;

  void Observe(std::string_view path, SteadyTime start, std::string_view code);
  void OnPiece(std::string_view piece);
  void EndListing(const Status& status);

  EventLoop& loop_;
  const Connect connect_;
  const Duration timeout_;
  metrics::Histograms* durations_ = nullptr;
  std::string reached_;  // which address and port
  std::shared_ptr<kube::Transport> transport_;
  Detour detour_;
  PodListReader reader_;
  std::unique_ptr<Listing> listing_;  // under way
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace koord::koordlet
