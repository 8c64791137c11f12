#include "kube/objects/config.h"

KOORD_DEFINE_CODEC(koord::kube::ConfigMap);
KOORD_DEFINE_CODEC(koord::kube::Secret);
