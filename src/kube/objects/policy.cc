#include "kube/objects/policy.h"

KOORD_DEFINE_CODEC(koord::kube::PodDisruptionBudget);
