#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "kube/api_error.h"
#include "kube/resource.h"

// The failures that requests end in, as Kubernetes words them. All carry an ApiError.
namespace koord::apiserver {

Status Error(int code, std::string_view reason, std::string message);

template <class... Args>
Status BadRequest(fmt::format_string<Args...> format, Args&&... args) {
  return Error(400, "BadRequest", fmt::format(format, std::forward<Args>(args)...));
}
// Code 500 without a reason: what the original answers where it fails on its own account.
template <class... Args>
Status PlainError(fmt::format_string<Args...> format, Args&&... args) {
  return Error(500, "", fmt::format(format, std::forward<Args>(args)...));
}

Status ObjectNotFound(const kube::Resource& resource, std::string_view name);
Status AlreadyExists(const kube::Resource& resource, std::string_view name);
// 409; `qualified` is "pods", "pods/binding" or "Reservation.scheduling.koordinator.sh".
Status Conflict(std::string_view qualified, std::string_view name, std::string_view why);
// The object has been modified since the client read it.
Status Modified(const kube::Resource& resource, std::string_view name);
// 403 `pods "p" is forbidden: ...`
Status ForbiddenObject(const kube::Resource& resource, std::string_view name, std::string_view why);
// 404 and 405 about the endpoint rather than an object.
Status UnknownEndpoint();
Status MethodNotAllowed();
Status UnsupportedMediaType(std::string_view accepted);
Status NotAcceptable(std::string_view accepted);
// 504 after waiting for a revision that has not come.
Status RevisionTooLarge(uint64_t wanted, uint64_t current);
// The ApiError in a status, or an InternalError that carries its message.
kube::ApiError ErrorOf(const Status& status);

}  // namespace koord::apiserver
