#include "kube/schema/builtin_types.h"

namespace koord::kube::schema {

const GroupSource kMetaTypes = {
    .api_version = "meta/v1",
    .openapi_prefix = "io.k8s.apimachinery.pkg.apis.meta.v1.",
    .messages = R"(
Condition: type !, status !, observedGeneration i, lastTransitionTime Time!, reason !, message !
kind DeleteOptions: gracePeriodSeconds i?, preconditions Preconditions?, orphanDependents b?,
  propagationPolicy ?, dryRun [s], ignoreStoreReadErrorWithClusterBreakingPotential b?
FieldSelectorRequirement: key !, operator !, values [s]
atomic LabelSelector: matchLabels map:s, matchExpressions [LabelSelectorRequirement]
LabelSelectorRequirement: key !, operator !, values [s]
ListMeta: selfLink, resourceVersion, continue, remainingItemCount i?
ManagedFieldsEntry: manager, operation, apiVersion, time Time?, 6.fieldsType, fieldsV1 FieldsV1?,
  subresource
ObjectMeta: name, generateName, namespace, selfLink, uid, resourceVersion, generation i,
  creationTimestamp Time, deletionTimestamp Time?, deletionGracePeriodSeconds i?, labels map:s,
  annotations map:s, ownerReferences [OwnerReference] merge=uid, finalizers [s] merge,
  17.managedFields [ManagedFieldsEntry]
atomic OwnerReference: kind !, 3.name !, uid !, apiVersion !, controller b?, blockOwnerDeletion b?
Preconditions: uid ?, resourceVersion ?
kind Status: metadata ListMeta, status, message, reason, details StatusDetails?, code i
StatusCause: reason, message, field
StatusDetails: name, group, kind, causes [StatusCause], retryAfterSeconds i, uid
)",
    .json_messages = {},
};

}  // namespace koord::kube::schema
