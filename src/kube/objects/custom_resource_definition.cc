#include "kube/objects/custom_resource_definition.h"

KOORD_DEFINE_CODEC(koord::kube::CustomResourceDefinition);
