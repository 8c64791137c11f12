#pragma once
#include "kube/json.h"

namespace koord::kube {

// The JSON patch (RFC 6902) that turns `before` into `after`; `[]` if nothing changed. Lists are
// compared place by place. It is made in the memory of `after`.
Json CreateJsonPatch(const Json& before, const Json& after);

}  // namespace koord::kube
