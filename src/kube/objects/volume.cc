#include "kube/objects/volume.h"

KOORD_DEFINE_CODEC(koord::kube::Volume);
