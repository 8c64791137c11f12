#pragma once
#include <string>

#include "kube/json.h"

namespace koord::apiserver {

// An OpenAPI v2 document in the protobuf form (openapi.v2.Document) that kubectl up to 1.26 asks
// for: as much of it as such clients read.
std::string EncodeOpenApiV2(const kube::Json& document);

}  // namespace koord::apiserver
