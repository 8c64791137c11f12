#include "api/device.h"

KOORD_DEFINE_CODEC(koord::api::DeviceInfo);
KOORD_DEFINE_CODEC(koord::api::Device);
