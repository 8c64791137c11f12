#pragma once
#include "kube/json.h"

// What Kubernetes fills into the fields that a user leaves out, kind by kind. Every function is
// idempotent and leaves objects of an unexpected shape as they are: validation speaks about those.
namespace koord::apiserver {

void DefaultPod(kube::Json& pod);
// A pod template: a subset of a pod's defaults. `template_spec` is the template's spec.
void DefaultPodTemplateSpec(kube::json::object& template_spec);

void DefaultPodTemplate(kube::Json& object);
void DefaultDeployment(kube::Json& object);
void DefaultReplicaSet(kube::Json& object);
void DefaultStatefulSet(kube::Json& object);
void DefaultDaemonSet(kube::Json& object);
void DefaultReplicationController(kube::Json& object);
void DefaultJob(kube::Json& object);
void DefaultCronJob(kube::Json& object);

// Nodes and leases show a spec, be it empty.
void DefaultSpec(kube::Json& object);
void DefaultSecret(kube::Json& object);
void DefaultService(kube::Json& object);
void DefaultEndpoints(kube::Json& object);
void DefaultPersistentVolume(kube::Json& object);
void DefaultPersistentVolumeClaim(kube::Json& object);
// Containers: the default limit is the maximum, the default request that limit, or the minimum.
void DefaultLimitRange(kube::Json& object);
void DefaultPriorityClass(kube::Json& object);
void DefaultStorageClass(kube::Json& object);
void DefaultCsiDriver(kube::Json& object);
void DefaultRoleBinding(kube::Json& object);

}  // namespace koord::apiserver
