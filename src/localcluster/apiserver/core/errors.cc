#include "localcluster/apiserver/core/errors.h"

namespace koord::apiserver {

using kube::ApiError;

namespace {

ApiError AboutObject(int code, std::string_view reason, const kube::Resource& resource,
                     std::string_view name) {
  ApiError error;
  error.code = code;
  error.reason = reason;
  error.name = name;
  error.group = resource.group;
  error.kind = resource.resource;
  error.has_details = true;
  return error;
}

ApiError AboutEndpoint(int code, std::string_view reason, std::string message) {
  ApiError error;
  error.code = code;
  error.reason = reason;
  error.message = std::move(message);
  error.has_details = true;
  return error;
}

}  // namespace

Status Error(int code, std::string_view reason, std::string message) {
  ApiError error;
  error.code = code;
  error.reason = reason;
  error.message = std::move(message);
  return ToStatus(error);
}

Status ObjectNotFound(const kube::Resource& resource, std::string_view name) {
  ApiError error = AboutObject(404, "NotFound", resource, name);
  error.message = fmt::format("{} \"{}\" not found", resource.qualified(), name);
  return ToStatus(error);
}

Status AlreadyExists(const kube::Resource& resource, std::string_view name) {
  ApiError error = AboutObject(409, "AlreadyExists", resource, name);
  error.message = fmt::format("{} \"{}\" already exists", resource.qualified(), name);
  return ToStatus(error);
}

Status Conflict(std::string_view qualified, std::string_view name, std::string_view why) {
  ApiError error;
  error.code = 409;
  error.reason = "Conflict";
  error.name = name;
  const size_t dot = qualified.find('.');
  error.kind = qualified.substr(0, dot);
  if (dot != std::string_view::npos) error.group = qualified.substr(dot + 1);
  error.message =
      fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", qualified, name, why);
  return ToStatus(error);
}

Status Modified(const kube::Resource& resource, std::string_view name) {
  return Conflict(resource.qualified(), name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Status ForbiddenObject(const kube::Resource& resource, std::string_view name,
                       std::string_view why) {
  ApiError error = AboutObject(403, "Forbidden", resource, name);
  error.message = fmt::format("{} \"{}\" is forbidden: {}", resource.qualified(), name, why);
  return ToStatus(error);
}

Status UnknownEndpoint() {
  return ToStatus(
      AboutEndpoint(404, "NotFound", "the server could not find the requested resource"));
}

Status MethodNotAllowed() {
  return ToStatus(AboutEndpoint(405, "MethodNotAllowed",
                                "the server does not allow this method on the requested resource"));
}

Status UnsupportedMediaType(std::string_view accepted) {
  return Error(415, "UnsupportedMediaType",
               fmt::format("the body of the request was in an unknown format - accepted media "
                           "types include: {}",
                           accepted));
}

Status NotAcceptable(std::string_view accepted) {
  return Error(406, "NotAcceptable",
               fmt::format("only the following media types are accepted: {}", accepted));
}

Status RevisionTooLarge(uint64_t wanted, uint64_t current) {
  ApiError error;
  error.code = 504;
  error.reason = "Timeout";
  error.message =
      fmt::format("Timeout: Too large resource version: {}, current: {}", wanted, current);
  error.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  error.retry_after_seconds = 1;
  return ToStatus(error);
}

ApiError ErrorOf(const Status& status) {
  if (auto error = kube::AsApiError(status)) return *error;
  ApiError error;
  error.code = 500;
  error.reason = "InternalError";
  error.message = fmt::format("Internal error occurred: {}", Message(status));
  error.causes.push_back({"", std::string(Message(status)), ""});
  return error;
}

}  // namespace koord::apiserver
