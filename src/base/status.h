#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <fmt/format.h>

#include <string_view>
#include <utility>

// Debian's Abseil has a string_view of its own; these keep it out of the rest of the code.
namespace koord {

using absl::Status;
using absl::StatusOr;

inline std::string_view Message(const Status& status) {
  return {status.message().data(), status.message().size()};
}

template <class... Args>
Status InvalidArgument(fmt::format_string<Args...> format, Args&&... args) {
  return absl::InvalidArgumentError(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
Status FailedPrecondition(fmt::format_string<Args...> format, Args&&... args) {
  return absl::FailedPreconditionError(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
Status NotFound(fmt::format_string<Args...> format, Args&&... args) {
  return absl::NotFoundError(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
Status Unavailable(fmt::format_string<Args...> format, Args&&... args) {
  return absl::UnavailableError(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
Status Internal(fmt::format_string<Args...> format, Args&&... args) {
  return absl::InternalError(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace koord

#define KOORD_CONCAT_(a, b) a##b
#define KOORD_CONCAT(a, b) KOORD_CONCAT_(a, b)

#define RETURN_IF_ERROR(expression)                                           \
  do {                                                                        \
    if (::absl::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_(KOORD_CONCAT(status_or_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_(result, declaration, expression) \
  auto result = (expression);                              \
  if (!result.ok()) return std::move(result).status();     \
  declaration = std::move(*result)
