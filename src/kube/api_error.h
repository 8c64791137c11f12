#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/json.h"

namespace koord::kube {

// A Kubernetes Status of failure, as servers send it and clients judge it. `reason` is one of
// Kubernetes' own words (NotFound, Conflict, Invalid, ...); see the table in the API conventions.
struct ApiError {
  struct Cause {
    std::string reason, message, field;
  };

  int code = 500;
  std::string reason;
  std::string message;
  // Members of `details`.
  std::string name, group, kind, uid;
  std::vector<Cause> causes;
  int retry_after_seconds = 0;
  bool has_details = false;  // `details: {}` is sent even when empty

  // With the reason that belongs to the code: 400 BadRequest, 404 NotFound, ...
  static ApiError Of(int code, std::string message);

  Json ToJson() const;
  static ApiError FromJson(int http_code, const Json& status);
  // A body that is no Status object still becomes an error with the reason of its code.
  static ApiError FromBody(int http_code, std::string_view body);
};

// ApiErrors travel in absl::Status, so that callers have one kind of failure. The whole ApiError is
// kept as a payload.
Status ToStatus(const ApiError& error);
// Null fields if the status did not come from an API server (transport errors, cancellation).
std::optional<ApiError> AsApiError(const Status& status);

int HttpCode(const Status& status);             // 0 if not from an API server
std::string ErrorReason(const Status& status);  // empty likewise
bool IsNotFound(const Status& status);
bool IsAlreadyExists(const Status& status);
bool IsConflict(const Status& status);  // 409 Conflict, not AlreadyExists
bool IsExpired(const Status& status);   // 410, Expired or Gone
bool IsTooManyRequests(const Status& status);

}  // namespace koord::kube
