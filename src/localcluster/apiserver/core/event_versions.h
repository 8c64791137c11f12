#pragma once
#include "kube/json.h"

// core/v1 and events.k8s.io/v1 show the same events under different names of their fields.
namespace koord::apiserver {

void EventToCore(kube::Json& event);
void EventFromCore(kube::Json& event);

}  // namespace koord::apiserver
