#include "kube/objects/job.h"

KOORD_DEFINE_CODEC(koord::kube::Job);
