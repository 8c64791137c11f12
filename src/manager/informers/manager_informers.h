#pragma once
#include <string>

#include "api/cluster_colocation_profile.h"
#include "api/device.h"
#include "api/elastic_quota.h"
#include "api/elastic_quota_profile.h"
#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "api/node_slo.h"
#include "kube/client/client.h"
#include "kube/controller/informer_set.h"
#include "kube/objects/config.h"
#include "kube/objects/namespace.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/objects/priority_class.h"

namespace koord::manager {

// The copies of the cluster's objects that the parts of koord-manager share.
class ManagerInformers final : public kube::InformerSet {
 public:
  struct Options {
    uint64_t seed = 1;
    Duration resync{0};            // how often everything is looked at again; zero: never
    kube::ObjectKey slo_config;    // the ConfigMap
    std::string only_namespace{};  // of pods; empty: all
    // Copies that the process keeps anyway; null: all are our own.
    kube::InformerSet* lender = nullptr;
  };

  ManagerInformers(kube::Client& client, const Options& options);

  kube::Informer<kube::Node>& nodes;
  kube::Informer<kube::Pod>& pods;  // indexed by node
  kube::Informer<api::NodeMetric>& node_metrics;
  kube::Informer<api::NodeSlo>& node_slos;
  kube::Informer<api::NodeResourceTopology>& topologies;
  kube::Informer<api::Device>& devices;
  kube::Informer<kube::ConfigMap>& config_maps;  // slo-controller-config alone

  // What not everybody needs, and nobody looks at again by itself: asked for by the first who does.
  kube::Informer<api::ClusterColocationProfile>& Profiles();
  kube::Informer<kube::Namespace>& Namespaces();
  kube::Informer<api::ElasticQuota>& Quotas();
  kube::Informer<api::ElasticQuotaProfile>& QuotaProfiles();
  kube::Informer<kube::PriorityClass>& PriorityClasses();
};

}  // namespace koord::manager
