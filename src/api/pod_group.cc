#include "api/pod_group.h"

KOORD_DEFINE_CODEC(koord::api::PodGroup);
