#pragma once
#include "base/status.h"
#include "kube/http.h"

namespace koord::apiserver {

// Makes the request one of whomever its Impersonate-* headers name. Only members of system:masters
// may do that; others get 403 in the status.
Status Impersonate(kube::HttpRequest& request);

}  // namespace koord::apiserver
