#include "kube/objects/service.h"

KOORD_DEFINE_CODEC(koord::kube::Service);
