#pragma once
#include "manager/webhook/configmap/slo_config_check.h"
#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/review.h"

namespace koord::manager::webhook {

// /validate-configmap: slo-controller-config alone.
Response ValidateConfigMap(const Request& request, const ClusterView& view,
                           const kube::ObjectKey& slo_config, const SloConfigCheck& options);

// /validate-node: a node whose labels change must not become subject to several entries of the
// configuration at once.
Response ValidateNode(const Request& request, const ClusterView& view);

}  // namespace koord::manager::webhook
