#pragma once
#include <absl/functional/any_invocable.h>

#include "manager/quota/quota_evaluator.h"
#include "manager/webhook/pod/enhanced_validation.h"
#include "manager/webhook/pod/trusted_keys.h"
#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/features.h"
#include "manager/webhook/review/field_errors.h"
#include "manager/webhook/review/review.h"
#include "manager/webhook/review/webhook_metrics.h"

// /validate-pod: whether a pod may be as it is. The first check that fails is the answer.
namespace koord::manager::webhook {

struct PodValidation {
  const ClusterView& view;
  const Features& features;
  const TrustOptions& trust;
  const Clock& clock;
  EnhancedValidator& enhanced;
  QuotaEvaluator* evaluator = nullptr;  // null: pods are not charged
  WebhookMetrics* metrics = nullptr;
};

// Asynchronous only because a pod's quota may have to be written first.
void ValidatePod(const Request& request, const PodValidation& context,
                 absl::AnyInvocable<void(Response)> done);

// The checks; errors are what users see.
void CheckReservedAnnotations(const kube::Annotations& annotations, FieldErrors& errors);
// Class and priority of a pod stay as they were when it was created.
void CheckImmutable(const kube::Pod& pod, const kube::Pod& old, const Features& features,
                    FieldErrors& errors);
Status CheckColocation(const kube::Pod& pod, const kube::Pod* old, const Features& features);
Status CheckQuotaParent(const kube::Pod& pod, const kube::Pod* old, std::string_view ns,
                        const ClusterView& view, const Features& features);
Status CheckDevices(const kube::Pod& pod);

// The quota that the pod has to be charged to now; "" if none.
std::string QuotaToCharge(const kube::Pod& pod, const kube::Pod* old, std::string_view ns,
                          const ClusterView& view, const Features& features);

}  // namespace koord::manager::webhook
