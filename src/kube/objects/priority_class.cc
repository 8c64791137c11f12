#include "kube/objects/priority_class.h"

KOORD_DEFINE_CODEC(koord::kube::PriorityClass);
