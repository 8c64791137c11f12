#pragma once
#include <absl/functional/any_invocable.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/metrics/metrics.h"
#include "base/status.h"
#include "koordlet/states/complaints.h"
#include "kube/client/client_config.h"
#include "kube/client/transport.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"

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

// Reads lists of pods. What has not changed since the last list is not decoded again; a pod that
// cannot be read is left out (or stays as it was) and harms no other.
class PodListReader {
 public:
  using Pods = std::vector<std::shared_ptr<const kube::Pod>>;
  StatusOr<Pods> Read(std::string_view text);

 private:
  struct Entry {
    size_t hash = 0;
    std::shared_ptr<const kube::Pod> pod;
  };
  std::shared_ptr<const kube::Pod> ReadOne(const kube::Json& item, StringMap<Entry>& entries);

  size_t text_hash_ = 0;
  size_t text_size_ = 0;
  Pods last_;
  StringMap<Entry> entries_;  // by uid
  Complaints complaints_;
};

class KubeletClient {
 public:
  using Connect = std::function<StatusOr<std::shared_ptr<kube::Transport>>(const kube::Node&)>;
  template <class T>
  using Done = absl::AnyInvocable<void(StatusOr<T>)>;

  // `connect` is asked once the node is known, and again when it is found elsewhere.
  KubeletClient(EventLoop& loop, Connect connect, Duration timeout, metrics::Registry* registry);
  ~KubeletClient();

  // Fails where the node says nothing of how to reach it.
  Status SetNode(const kube::Node& node);
  bool connected() const { return transport_ != nullptr; }

  // Errors name what was asked for. One list at a time.
  void GetPods(Done<PodListReader::Pods> done);
  void GetConfig(Done<KubeletConfig> done);

 private:
  void Get(std::string_view path, Done<std::string> done);

  EventLoop& loop_;
  const Connect connect_;
  const Duration timeout_;
  metrics::Histograms* durations_ = nullptr;
  std::string reached_;  // which address and port
  std::shared_ptr<kube::Transport> transport_;
  PodListReader reader_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace koord::koordlet
