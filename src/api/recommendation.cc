#include "api/recommendation.h"

KOORD_DEFINE_CODEC(koord::api::Recommendation);
