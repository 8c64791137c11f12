#pragma once
#include "kube/json.h"
#include "localcluster/apiserver/registry/field_error.h"
#include "localcluster/apiserver/registry/field_path.h"
#include "localcluster/apiserver/registry/names.h"

// What makes an object unacceptable, kind by kind. Functions append to `errors` what they find, in
// Kubernetes' words; they expect objects that have been decoded and defaulted, and survive any
// other.
namespace koord::apiserver {

// Names, labels, annotations, owners and finalizers of an object about to be stored.
void ValidateObjectMeta(const kube::Json& object, bool namespaced, NameRule name_rule,
                        FieldErrors& errors);
// What may not change, and that nothing is added to the finalizers of an object being deleted.
void ValidateObjectMetaUpdate(const kube::Json& object, const kube::Json& old, FieldErrors& errors);
void ValidateLabels(const kube::Json* labels, const FieldPath& path, FieldErrors& errors);
void ValidateAnnotations(const kube::Json* annotations, const FieldPath& path, FieldErrors& errors);

void ValidatePod(const kube::Json& pod, FieldErrors& errors);
void ValidatePodUpdate(const kube::Json& pod, const kube::Json& old, FieldErrors& errors);
// Besides what /resize may change, nothing of a pod's spec may differ.
void ValidatePodResize(const kube::Json& pod, const kube::Json& old, FieldErrors& errors);
// Ephemeral containers may only be added.
void ValidateEphemeralContainers(const kube::Json& pod, const kube::Json& old, FieldErrors& errors);
void ValidatePodSpec(const kube::json::object& spec, const FieldPath& path, FieldErrors& errors);

void ValidateDeployment(const kube::Json& object, FieldErrors& errors);
void ValidateReplicaSet(const kube::Json& object, FieldErrors& errors);
void ValidateStatefulSet(const kube::Json& object, FieldErrors& errors);
void ValidateDaemonSet(const kube::Json& object, FieldErrors& errors);
void ValidateReplicationController(const kube::Json& object, FieldErrors& errors);
void ValidateJob(const kube::Json& object, FieldErrors& errors);
void ValidateCronJob(const kube::Json& object, FieldErrors& errors);
void ValidateSelectorUnchanged(const kube::Json& object, const kube::Json& old,
                               FieldErrors& errors);
void ValidateStatefulSetUpdate(const kube::Json& object, const kube::Json& old,
                               FieldErrors& errors);
void ValidateJobUpdate(const kube::Json& object, const kube::Json& old, FieldErrors& errors);
void ValidateControllerRevisionUpdate(const kube::Json& object, const kube::Json& old,
                                      FieldErrors& errors);

void ValidateNode(const kube::Json& object, FieldErrors& errors);
void ValidateConfigMap(const kube::Json& object, FieldErrors& errors);
void ValidateSecret(const kube::Json& object, FieldErrors& errors);
void ValidateImmutableData(const kube::Json& object, const kube::Json& old, FieldErrors& errors);
void ValidateSecretUpdate(const kube::Json& object, const kube::Json& old, FieldErrors& errors);
void ValidateEvent(const kube::Json& object, FieldErrors& errors);
// As events.k8s.io/v1 spells it.
void ValidateEventV1(const kube::Json& object, FieldErrors& errors);
void ValidateService(const kube::Json& object, FieldErrors& errors);
void ValidateServiceUpdate(const kube::Json& object, const kube::Json& old, FieldErrors& errors);
void ValidatePersistentVolume(const kube::Json& object, FieldErrors& errors);
void ValidatePersistentVolumeClaim(const kube::Json& object, FieldErrors& errors);
void ValidatePersistentVolumeClaimUpdate(const kube::Json& object, const kube::Json& old,
                                         FieldErrors& errors);
void ValidateResourceQuota(const kube::Json& object, FieldErrors& errors);
void ValidateResourceQuotaUpdate(const kube::Json& object, const kube::Json& old,
                                 FieldErrors& errors);
void ValidateLimitRange(const kube::Json& object, FieldErrors& errors);
void ValidateStorageClass(const kube::Json& object, FieldErrors& errors);
void ValidateStorageClassUpdate(const kube::Json& object, const kube::Json& old,
                                FieldErrors& errors);
void ValidatePodDisruptionBudget(const kube::Json& object, FieldErrors& errors);
void ValidatePriorityClass(const kube::Json& object, FieldErrors& errors);
void ValidatePriorityClassUpdate(const kube::Json& object, const kube::Json& old,
                                 FieldErrors& errors);
void ValidateLease(const kube::Json& object, FieldErrors& errors);

}  // namespace koord::apiserver
