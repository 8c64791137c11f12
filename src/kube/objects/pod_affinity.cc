#include "kube/objects/pod_affinity.h"

KOORD_DEFINE_CODEC(koord::kube::PodAffinity);
KOORD_DEFINE_CODEC(koord::kube::TopologySpreadConstraint);
