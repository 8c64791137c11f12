#include "kube/objects/namespace.h"

KOORD_DEFINE_CODEC(koord::kube::Namespace);
