#pragma once
#include "base/status.h"
#include "kube/json.h"

namespace koord::kube {

// RFC 7386: null deletes, objects merge member by member, everything else (lists too) replaces.
// A patch that is no object is a 400.
StatusOr<Json> ApplyMergePatch(Json document, const Json& patch);

// The smallest merge patch that turns `before` into `after`; `{}` if nothing changed. Nulls inside
// `after` cannot be expressed and come out as deletions.
Json CreateMergePatch(const Json& before, const Json& after);

}  // namespace koord::kube
