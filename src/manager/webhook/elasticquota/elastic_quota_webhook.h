#pragma once
#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/review.h"
#include "manager/webhook/review/webhook_metrics.h"

// ElasticQuotas: what is filled in when one is created, and whether a change keeps the tree sound.
namespace koord::manager::webhook {

Response MutateElasticQuota(const Request& request, const ClusterView& view,
                            WebhookMetrics* metrics);
Response ValidateElasticQuota(const Request& request, ClusterView& view);

}  // namespace koord::manager::webhook
