#include "manager/cluster/manager_informers.h"

#include <algorithm>
#include <memory>

#include "api/resources.h"
#include "kube/resources.h"

namespace koord::manager {
namespace {

kube::InformerOptions All(const ManagerInformers::Options& options) {
  kube::InformerOptions all;
  all.seed = options.seed;
  all.resync = options.resync;
  return all;
}

// Of what nobody looks at again by itself.
kube::InformerOptions Once(const ManagerInformers::Options& options) {
  return {.seed = options.seed};
}

kube::InformerOptions PodsOf(const ManagerInformers::Options& options) {
  kube::InformerOptions pods = Once(options);
  pods.ns = options.only_namespace;
  return pods;
}

kube::InformerOptions ConfigOf(const ManagerInformers::Options& options) {
  kube::InformerOptions config = All(options);
  config.ns = options.slo_config.ns;
  config.field_selector = "metadata.name=" + options.slo_config.name;
  return config;
}

}  // namespace

ManagerInformers::ManagerInformers(kube::Client& client, const Options& options)
    : own_nodes_(options.nodes == nullptr ? std::make_unique<kube::Informer<kube::Node>>(
                                                client, kube::kNodes, All(options))
                                          : nullptr),
      own_pods_(options.pods == nullptr ? std::make_unique<kube::Informer<kube::Pod>>(
                                              client, kube::kPods, PodsOf(options))
                                        : nullptr),
      nodes(own_nodes_ ? *own_nodes_ : *options.nodes),
      pods(own_pods_ ? *own_pods_ : *options.pods),
      node_metrics(client, api::kNodeMetrics, All(options)),
      node_slos(client, api::kNodeSlos, All(options)),
      topologies(client, api::kNodeResourceTopologies, All(options)),
      devices(client, api::kDevices, All(options)),
      config_maps(client, kube::kConfigMaps, ConfigOf(options)),
      profiles(client, api::kClusterColocationProfiles, Once(options)),
      namespaces(client, kube::kNamespaces, Once(options)),
      quotas(client, api::kElasticQuotas, Once(options)),
      quota_profiles(client, api::kElasticQuotaProfiles, Once(options)),
      priority_classes(client, kube::kPriorityClasses, Once(options)),
      options_(options) {
  if (own_pods_) {
    own_pods_->AddIndex(
        kByNode, [](const kube::Pod& pod) { return std::vector<std::string>{pod.spec.node_name}; });
  }
  ForEach([this](auto& informer) { synced_.push_back([&informer] { return informer.synced(); }); });
}

template <class Visit>
void ManagerInformers::ForEach(Visit visit) {
  visit(config_maps);
  visit(nodes);
  visit(pods);
  visit(node_metrics);
  visit(node_slos);
  visit(topologies);
  visit(devices);
  if (options_.wants_profiles) {
    visit(profiles);
    visit(namespaces);
  }
  if (options_.wants_quotas) {
    visit(quotas);
    visit(quota_profiles);
  }
  if (options_.wants_priorities) visit(priority_classes);
}

void ManagerInformers::Start() {
  ForEach([this](auto& informer) {
    if (!IsLent(&informer)) informer.Start();
  });
}

bool ManagerInformers::IsLent(const void* informer) const {
  return (informer == &nodes && !own_nodes_) || (informer == &pods && !own_pods_);
}

bool ManagerInformers::synced() const {
  return std::all_of(synced_.begin(), synced_.end(), [](const auto& each) { return each(); });
}

void ManagerInformers::WhenSynced(std::function<void()> callback) {
  const auto waiting = std::make_shared<size_t>(synced_.size());
  const auto shared = std::make_shared<std::function<void()>>(std::move(callback));
  ForEach([&](auto& informer) {
    informer.WhenSynced([waiting, shared] {
      if (--*waiting == 0) (*shared)();
    });
  });
}

}  // namespace koord::manager
