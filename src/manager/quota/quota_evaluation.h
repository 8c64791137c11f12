#pragma once
#include <string>

#include "api/elastic_quota.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/objects/pod.h"

// Whether a pod still fits into its quota when it is created, long before it is scheduled.
namespace koord::manager {

// Quotas that are about none of the resources that can be evaluated let everything in.
bool IsEvaluated(const api::ElasticQuota& quota);

// What the pod takes from the quota; nothing of what the quota does not limit.
kube::ResourceList ChargeOf(const kube::Pod& pod, const api::ElasticQuota& quota, WallTime now);

// Whether the pod asks for less than nothing of something; the error names it. No pod of the API
// server's does.
Status CheckNotNegative(const kube::Pod& pod);

// What the annotation that replaces resources makes of the pod, for evaluation only.
void ReplaceResources(kube::Pod& pod);

// What is used is never less than nothing, whatever the annotation says.
struct QuotaBalance {
  kube::ResourceList limit;
  kube::ResourceList used;
};
StatusOr<QuotaBalance> BalanceOf(const api::ElasticQuota& quota);

// The error is what users see.
Status CheckCharge(const kube::ObjectKey& quota, const QuotaBalance& balance,
                   const kube::ResourceList& charge);

}  // namespace koord::manager
