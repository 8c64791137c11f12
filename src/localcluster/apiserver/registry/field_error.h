#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kube/api_error.h"

// What is wrong with one field of a submitted object, in Kubernetes' words.
namespace koord::apiserver {

struct FieldError {
  enum class Kind {
    kRequired,
    kInvalid,
    kNotSupported,
    kForbidden,
    kDuplicate,
    kNotFound,
    kTooLong,
    kTooMany,
    kTypeInvalid,
  };
  Kind kind;
  std::string field;  // "spec.containers[0].name"
  std::string value;  // as JSON, where the form shows one
  std::string detail;

  // "spec.x: Invalid value: 11: must be less than 10"
  std::string ToString() const;
  std::string_view reason() const;  // FieldValueInvalid, ...
  kube::ApiError::Cause ToCause() const;
};
using FieldErrors = std::vector<FieldError>;

FieldError Required(std::string field, std::string detail = {});
FieldError Invalid(std::string field, const kube::Json& value, std::string detail);
FieldError NotSupported(std::string field, const kube::Json& value,
                        const std::vector<std::string>& supported);
FieldError Forbidden(std::string field, std::string detail);
FieldError Duplicate(std::string field, const kube::Json& value);
FieldError NotFoundValue(std::string field, const kube::Json& value);
FieldError TooLong(std::string field, size_t limit);
FieldError TooMany(std::string field, size_t count, size_t limit);

// 422 `Pod "p" is invalid: ...`, with the first hundred errors and the number of the others.
// `qualified_kind` is "Pod" or "Reservation.scheduling.koordinator.sh".
kube::ApiError InvalidError(std::string_view kind, std::string_view group, std::string_view name,
                            const FieldErrors& errors);

}  // namespace koord::apiserver
