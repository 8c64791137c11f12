#include "api/node_resource_topology.h"

KOORD_DEFINE_CODEC(koord::api::NodeResourceTopology);
