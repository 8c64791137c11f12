#include "api/pod_migration_job.h"

KOORD_DEFINE_CODEC(koord::api::PodMigrationJob);
