#include "api/elastic_quota_profile.h"

KOORD_DEFINE_CODEC(koord::api::ElasticQuotaProfile);
