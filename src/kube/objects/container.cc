#include "kube/objects/container.h"

KOORD_DEFINE_CODEC(koord::kube::Container);
KOORD_DEFINE_CODEC(koord::kube::ContainerStatus);
