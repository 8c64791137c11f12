#include "manager/informers/manager_informers.h"

#include "api/resources.h"
#include "kube/controller/indexes.h"
#include "kube/resources.h"

namespace koord::manager {
namespace {

kube::InformerOptions All(const ManagerInformers::Options& options) {
  kube::InformerOptions all;
  all.resync = options.resync;
  return all;
}

kube::InformerOptions ConfigOf(const ManagerInformers::Options& options) {
  kube::InformerOptions config = All(options);
  config.ns = options.slo_config.ns;
  config.field_selector = "metadata.name=" + options.slo_config.name;
  return config;
}

}  // namespace

ManagerInformers::ManagerInformers(kube::Client& client, const Options& options)
    : InformerSet(client, {.seed = options.seed, .lender = options.lender}),
      nodes(Use<kube::Node>(kube::kNodes, All(options))),
      pods(Use<kube::Pod>(kube::kPods, {.ns = options.only_namespace}, Lent::kOrAll)),
      node_metrics(Use<api::NodeMetric>(api::kNodeMetrics, All(options))),
      node_slos(Use<api::NodeSlo>(api::kNodeSlos, All(options))),
      topologies(Use<api::NodeResourceTopology>(api::kNodeResourceTopologies, All(options))),
      devices(Use<api::Device>(api::kDevices, All(options))),
      config_maps(Use<kube::ConfigMap>(kube::kConfigMaps, ConfigOf(options))) {
  IndexByNode(pods);
}

kube::Informer<api::ClusterColocationProfile>& ManagerInformers::Profiles() {
  return Use<api::ClusterColocationProfile>(api::kClusterColocationProfiles);
}

kube::Informer<kube::Namespace>& ManagerInformers::Namespaces() {
  return Use<kube::Namespace>(kube::kNamespaces);
}

kube::Informer<api::ElasticQuota>& ManagerInformers::Quotas() {
  return Use<api::ElasticQuota>(api::kElasticQuotas);
}

kube::Informer<api::ElasticQuotaProfile>& ManagerInformers::QuotaProfiles() {
  return Use<api::ElasticQuotaProfile>(api::kElasticQuotaProfiles);
}

kube::Informer<kube::PriorityClass>& ManagerInformers::PriorityClasses() {
  return Use<kube::PriorityClass>(kube::kPriorityClasses);
}

}  // namespace koord::manager
