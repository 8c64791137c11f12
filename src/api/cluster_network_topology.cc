#include "api/cluster_network_topology.h"

KOORD_DEFINE_CODEC(koord::api::ClusterNetworkTopology);
