#include "kube/objects/limits.h"

KOORD_DEFINE_CODEC(koord::kube::ResourceQuota);
KOORD_DEFINE_CODEC(koord::kube::LimitRange);
