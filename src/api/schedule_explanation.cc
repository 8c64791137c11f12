#include "api/schedule_explanation.h"

KOORD_DEFINE_CODEC(koord::api::ScheduleExplanation);
