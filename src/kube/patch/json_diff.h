#pragma once
#include "kube/json.h"

namespace koord::kube {

// The JSON patch (RFC 6902) that turns `before` into `after`; `[]` if nothing changed. Lists are
// compared place by place.
Json CreateJsonPatch(const Json& before, const Json& after);

}  // namespace koord::kube
