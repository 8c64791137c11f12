#include "api/node_metric.h"

KOORD_DEFINE_CODEC(koord::api::NodeMetricSpec);
KOORD_DEFINE_CODEC(koord::api::NodeMetricStatus);
KOORD_DEFINE_CODEC(koord::api::NodeMetric);
