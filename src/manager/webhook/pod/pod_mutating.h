#pragma once
#include "base/random.h"
#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/features.h"
#include "manager/webhook/review/review.h"
#include "manager/webhook/review/webhook_metrics.h"

// /mutate-pod: what becomes of a pod as it is created. Profiles first, then what follows from its
// resources: the node agent's copy of batch resources, the nodes of its quota's tree, and GPU
// shares spelled out.
namespace koord::manager::webhook {

struct PodMutation {
  const ClusterView& view;
  const Features& features;
  Random& random;
  const Clock& clock;
  WebhookMetrics* metrics = nullptr;
};

Response MutatePod(const Request& request, const PodMutation& context);

// The steps; each changes the pod in place. Errors are for the user.
Status SetExtendedResourceSpec(kube::Json& pod);
Status AddQuotaTreeAffinity(const ClusterView& view, std::string_view ns, kube::Json& pod);
Status SetDeviceResources(kube::Json& pod);

}  // namespace koord::manager::webhook
