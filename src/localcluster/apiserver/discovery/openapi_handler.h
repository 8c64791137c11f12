#pragma once
#include <cstdint>

#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/openapi/openapi.h"

namespace koord::apiserver {

// Serves /openapi/v2 and /openapi/v3, kept in step with the resources that are served.
class OpenApiHandler {
 public:
  explicit OpenApiHandler(Core& core);

  // True if the path is one of these, and answered.
  bool Handle(Request& request);

 private:
  void RespondV2(Request& request);
  void RespondV3(Request& request);
  void RespondDocument(Request& request, const OpenApi::Document& document,
                       std::string_view content_type);

  Core& core_;
  OpenApi documents_;
  uint64_t generation_ = 0;
};

}  // namespace koord::apiserver
