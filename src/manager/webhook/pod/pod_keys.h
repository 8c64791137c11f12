#pragma once
#include "manager/webhook/pod/trusted_keys.h"
#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/features.h"
#include "manager/webhook/review/review.h"
#include "manager/webhook/review/webhook_metrics.h"

// /validate-pod-keys: the ways around /validate-pod. A pod's labels and annotations can also be
// written with its parts (status, resize, ephemeralcontainers), and those of a Binding become the
// pod's.
namespace koord::manager::webhook {

struct PodKeys {
  const ClusterView& view;
  const Features& features;
  const TrustOptions& trust;
  WebhookMetrics* metrics = nullptr;
};

// Judges only what changes: whoever writes a pod's status is not to answer for what it was before.
Response ValidatePodKeys(const Request& request, const PodKeys& context);

}  // namespace koord::manager::webhook
