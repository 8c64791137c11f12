#include "kube/objects/webhook_configuration.h"

KOORD_DEFINE_CODEC(koord::kube::WebhookConfiguration);
