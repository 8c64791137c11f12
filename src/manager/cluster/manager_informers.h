#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/cluster_colocation_profile.h"
#include "api/device.h"
#include "api/elastic_quota.h"
#include "api/elastic_quota_profile.h"
#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "api/node_slo.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "kube/objects/config.h"
#include "kube/objects/namespace.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/objects/priority_class.h"

namespace koord::manager {

// The copies of the cluster's objects that the parts of koord-manager share: each object is
// received and decoded once, however many look at it.
class ManagerInformers {
 private:
  // First, for `nodes` and `pods` refer to them where nobody lends us theirs.
  std::unique_ptr<kube::Informer<kube::Node>> own_nodes_;
  std::unique_ptr<kube::Informer<kube::Pod>> own_pods_;

 public:
  struct Options {
    uint64_t seed = 1;
    Duration resync{0};            // how often everything is looked at again; zero: never
    kube::ObjectKey slo_config;    // the ConfigMap
    std::string only_namespace{};  // of pods; empty: all
    // Copies that the process keeps and starts anyway, pods indexed as below; null: keep our own.
    kube::Informer<kube::Node>* nodes = nullptr;
    kube::Informer<kube::Pod>* pods = nullptr;
    // What not everybody needs; what is not wanted is never asked for and stays empty.
    bool wants_profiles = false;
    bool wants_quotas = false;
    bool wants_priorities = false;
  };

  ManagerInformers(kube::Client& client, const Options& options);

  void Start();
  // Runs `callback` once all first lists are there; at once if they are.
  void WhenSynced(std::function<void()> callback);
  bool synced() const;

  // Pods by the node they are on.
  static constexpr const char* kByNode = "node";

  kube::Informer<kube::Node>& nodes;
  kube::Informer<kube::Pod>& pods;
  kube::Informer<api::NodeMetric> node_metrics;
  kube::Informer<api::NodeSlo> node_slos;
  kube::Informer<api::NodeResourceTopology> topologies;
  kube::Informer<api::Device> devices;
  kube::Informer<kube::ConfigMap> config_maps;  // slo-controller-config alone
  // With profiles.
  kube::Informer<api::ClusterColocationProfile> profiles;
  kube::Informer<kube::Namespace> namespaces;
  // With quotas.
  kube::Informer<api::ElasticQuota> quotas;
  kube::Informer<api::ElasticQuotaProfile> quota_profiles;
  // With priorities.
  kube::Informer<kube::PriorityClass> priority_classes;

 private:
  bool IsLent(const void* informer) const;
  template <class Visit>
  void ForEach(Visit visit);

  const Options options_;
  std::vector<std::function<bool()>> synced_;
};

}  // namespace koord::manager
