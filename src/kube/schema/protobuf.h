#pragma once
#include <string_view>

#include "base/status.h"
#include "kube/json.h"

namespace koord::kube {

// Whether a body starts with the magic bytes of Kubernetes' protobuf form.
bool IsKubernetesProtobuf(std::string_view body);

// Turns a request body of type application/vnd.kubernetes.protobuf into the JSON document that the
// same client would have sent as JSON, apiVersion and kind first. Unknown field numbers are
// skipped.
//
// Errors are API errors: 415 for kinds whose protobuf form is not known here (custom resources
// among them), 400 that names the place for a body that is damaged.
StatusOr<Json> DecodeProtobuf(std::string_view body);

}  // namespace koord::kube
