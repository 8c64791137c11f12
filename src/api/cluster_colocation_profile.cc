#include "api/cluster_colocation_profile.h"

KOORD_DEFINE_CODEC(koord::api::ClusterColocationProfile);
