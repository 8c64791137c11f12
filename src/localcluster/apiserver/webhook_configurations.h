#pragma once
#include <string_view>

#include "base/status.h"
#include "localcluster/apiserver/admission/webhooks.h"
#include "localcluster/apiserver/core/core.h"

namespace koord::apiserver {

// Keeps the webhooks that are called in step with the configurations in the store.
class WebhookConfigurations {
 public:
  WebhookConfigurations(Core& core, Webhooks& webhooks);

 private:
  void Load(const kube::Resource& resource);

  Core& core_;
  Webhooks& webhooks_;
};

// metadata.labels of a namespace; null if it has none or does not exist.
kube::Json NamespaceLabels(const Core& core, std::string_view ns);

// Where a service is reached from here: the first address of its Endpoints. There is no cluster
// network, so a cluster IP leads nowhere.
StatusOr<Endpoint> ResolveService(const Core& core, const ServiceReference& service);

}  // namespace koord::apiserver
