#include "kube/objects/event.h"

KOORD_DEFINE_CODEC(koord::kube::CoreEvent);
KOORD_DEFINE_CODEC(koord::kube::Event);
