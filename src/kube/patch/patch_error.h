#pragma once
#include <string>

#include "base/status.h"
#include "kube/api_error.h"

// How Kubernetes answers a patch that cannot be applied.
namespace koord::kube::patch_internal {

// The patch itself is not one: 400.
inline Status Malformed(std::string what) { return ToStatus(ApiError::Of(400, std::move(what))); }

// The patch does not fit the object: 422 with a text that says no more.
inline Status Inapplicable() {
  ApiError error =
      ApiError::Of(422, "the server rejected our request due to an error in our request");
  error.has_details = true;
  return ToStatus(error);
}

// What Kubernetes reports as a failure of the server, without a reason: 500.
inline Status Failed(std::string what) {
  ApiError error;
  error.code = 500;
  error.message = std::move(what);
  return ToStatus(error);
}

}  // namespace koord::kube::patch_internal
