#include "kube/objects/lease.h"

KOORD_DEFINE_CODEC(koord::kube::Lease);
