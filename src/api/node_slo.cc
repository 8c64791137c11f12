#include "api/node_slo.h"

KOORD_DEFINE_CODEC(koord::api::NodeSloSpec);
KOORD_DEFINE_CODEC(koord::api::NodeSlo);
