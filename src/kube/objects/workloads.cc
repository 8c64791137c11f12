#include "kube/objects/workloads.h"

KOORD_DEFINE_CODEC(koord::kube::ReplicaSet);
KOORD_DEFINE_CODEC(koord::kube::ReplicationController);
KOORD_DEFINE_CODEC(koord::kube::Deployment);
KOORD_DEFINE_CODEC(koord::kube::StatefulSet);
KOORD_DEFINE_CODEC(koord::kube::DaemonSet);
KOORD_DEFINE_CODEC(koord::kube::ControllerRevision);
