#include "kube/objects/cron_job.h"

KOORD_DEFINE_CODEC(koord::kube::CronJob);
