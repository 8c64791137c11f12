#include "kube/api_error.h"

namespace koord::kube {
namespace {

// Debian's Abseil has its own string_view, hence no constexpr string_view here.
constexpr char kPayload[] = "koordinator.sh/api-error";

struct CodeName {
  int code;
  const char* reason;
};
constexpr CodeName kReasons[] = {
    {400, "BadRequest"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "NotFound"},
    {405, "MethodNotAllowed"},
    {406, "NotAcceptable"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "RequestEntityTooLarge"},
    {415, "UnsupportedMediaType"},
    {422, "Invalid"},
    {429, "TooManyRequests"},
    {500, "InternalError"},
    {503, "ServiceUnavailable"},
    {504, "Timeout"},
};

absl::StatusCode StatusCodeFor(int code) {
  switch (code) {
    case 400:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return absl::StatusCode::kAborted;
    case 410:
      return absl::StatusCode::kOutOfRange;
    case 429:
      return absl::StatusCode::kResourceExhausted;
    case 503:
      return absl::StatusCode::kUnavailable;
    case 504:
      return absl::StatusCode::kDeadlineExceeded;
    default:
      return absl::StatusCode::kInternal;
  }
}

void Put(json::object& object, std::string_view name, const std::string& value) {
  if (!value.empty()) object.emplace(name, value);
}

}  // namespace

ApiError ApiError::Of(int code, std::string message) {
  ApiError error;
  error.code = code;
  for (const CodeName& entry : kReasons) {
    if (entry.code == code) error.reason = entry.reason;
  }
  error.message = std::move(message);
  return error;
}

Json ApiError::ToJson() const {
  json::object details;
  Put(details, "name", name);
  Put(details, "group", group);
  Put(details, "kind", kind);
  Put(details, "uid", uid);
  json::array list;
  for (const Cause& cause : causes) {
    json::object item;
    Put(item, "reason", cause.reason);
    Put(item, "message", cause.message);
    Put(item, "field", cause.field);
    list.push_back(std::move(item));
  }
  if (!list.empty()) details.emplace("causes", std::move(list));
  if (retry_after_seconds > 0) details.emplace("retryAfterSeconds", retry_after_seconds);

  json::object status{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", json::object()},
                      {"status", "Failure"},
                      {"message", message}};
  Put(status, "reason", reason);
  if (has_details || !details.empty()) status.emplace("details", std::move(details));
  status.emplace("code", code);
  return status;
}

ApiError ApiError::FromJson(int http_code, const Json& status) {
  ApiError error;
  error.code = static_cast<int>(FindInt(status, {"code"}, http_code));
  error.reason = FindString(status, {"reason"});
  error.message = FindString(status, {"message"});
  error.has_details = FindObject(status, {"details"}) != nullptr;
  error.name = FindString(status, {"details", "name"});
  error.group = FindString(status, {"details", "group"});
  error.kind = FindString(status, {"details", "kind"});
  error.uid = FindString(status, {"details", "uid"});
  error.retry_after_seconds = static_cast<int>(FindInt(status, {"details", "retryAfterSeconds"}));
  if (const json::array* causes = FindArray(status, {"details", "causes"})) {
    for (const Json& cause : *causes) {
      error.causes.push_back({std::string(FindString(cause, {"reason"})),
                              std::string(FindString(cause, {"message"})),
                              std::string(FindString(cause, {"field"}))});
    }
  }
  return error;
}

ApiError ApiError::FromBody(int http_code, std::string_view body) {
  if (StatusOr<Json> parsed = ParseJson(body);
      parsed.ok() && FindString(*parsed, {"kind"}) == "Status") {
    return FromJson(http_code, *parsed);
  }
  return Of(http_code, body.empty() ? "the server answered " + std::to_string(http_code)
                                    : std::string(body.substr(0, 1024)));
}

Status ToStatus(const ApiError& error) {
  Status status(StatusCodeFor(error.code), error.message);
  status.SetPayload(kPayload, absl::Cord(Serialize(error.ToJson())));
  return status;
}

std::optional<ApiError> AsApiError(const Status& status) {
  const auto payload = status.GetPayload(kPayload);
  if (!payload) return {};
  const StatusOr<Json> parsed = ParseJson(std::string(*payload));
  if (!parsed.ok()) return {};
  return ApiError::FromJson(500, *parsed);
}

int HttpCode(const Status& status) {
  const auto error = AsApiError(status);
  return error ? error->code : 0;
}

std::string ErrorReason(const Status& status) {
  const auto error = AsApiError(status);
  return error ? error->reason : "";
}

bool IsNotFound(const Status& status) { return HttpCode(status) == 404; }
bool IsAlreadyExists(const Status& status) { return ErrorReason(status) == "AlreadyExists"; }
bool IsConflict(const Status& status) { return ErrorReason(status) == "Conflict"; }
bool IsExpired(const Status& status) { return HttpCode(status) == 410; }
bool IsTooManyRequests(const Status& status) { return HttpCode(status) == 429; }

}  // namespace koord::kube
