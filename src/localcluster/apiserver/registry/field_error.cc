#include "localcluster/apiserver/registry/field_error.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/shorten.h"
#include "base/string_map.h"
#include "base/strings.h"

namespace koord::apiserver {
namespace {

struct KindWords {
  std::string_view phrase;
  std::string_view reason;
};

// In the order of FieldError::Kind.
constexpr KindWords kWords[] = {
    {"Required value", "FieldValueRequired"},
    {"Invalid value", "FieldValueInvalid"},
    {"Unsupported value", "FieldValueNotSupported"},
    {"Forbidden", "FieldValueForbidden"},
    {"Duplicate value", "FieldValueDuplicate"},
    {"Not found", "FieldValueNotFound"},
    {"Too long", "FieldValueTooLong"},
    {"Too many", "FieldValueTooMany"},
    {"Invalid value", "FieldValueTypeInvalid"},
};

const KindWords& Words(FieldError::Kind kind) { return kWords[static_cast<size_t>(kind)]; }

// More errors than this are only counted.
constexpr size_t kMaxSpelledOut = 100;

// The text of a value, or of a large one the beginning, without ever making the whole.
std::string Show(const kube::Json& value) {
  constexpr size_t kMaxShown = 1024;
  char buffer[kMaxShown + 1];
  kube::json::serializer serializer;
  serializer.reset(&value);
  return Shorten(std::string_view(serializer.read(buffer, sizeof(buffer))), kMaxShown);
}

// The error without its field, as causes carry it.
std::string Body(const FieldError& error) {
  std::string text(Words(error.kind).phrase);
  if (!error.value.empty()) text += ": " + error.value;
  if (!error.detail.empty()) text += ": " + error.detail;
  return text;
}

}  // namespace

std::string FieldError::ToString() const {
  return field.empty() ? Body(*this) : field + ": " + Body(*this);
}

std::string_view FieldError::reason() const { return Words(kind).reason; }

kube::ApiError::Cause FieldError::ToCause() const {
  return {std::string(reason()), Body(*this), field};
}

FieldError Required(std::string field, std::string detail) {
  return {FieldError::Kind::kRequired, std::move(field), {}, std::move(detail)};
}

FieldError Invalid(std::string field, const kube::Json& value, std::string detail) {
  return {FieldError::Kind::kInvalid, std::move(field), Show(value), std::move(detail)};
}

FieldError NotSupported(std::string field, const kube::Json& value,
                        const std::vector<std::string>& supported) {
  std::string detail;
  for (const std::string& item : supported) {
    detail += detail.empty() ? "supported values: " : ", ";
    detail += Show(kube::Json(item));
  }
  return {FieldError::Kind::kNotSupported, std::move(field), Show(value), std::move(detail)};
}

FieldError Forbidden(std::string field, std::string detail) {
  return {FieldError::Kind::kForbidden, std::move(field), {}, std::move(detail)};
}

FieldError Duplicate(std::string field, const kube::Json& value) {
  return {FieldError::Kind::kDuplicate, std::move(field), Show(value), {}};
}

FieldError NotFoundValue(std::string field, const kube::Json& value) {
  return {FieldError::Kind::kNotFound, std::move(field), Show(value), {}};
}

FieldError TooLong(std::string field, size_t limit) {
  return {FieldError::Kind::kTooLong,
          std::move(field),
          {},
          fmt::format("may not be more than {} bytes", limit)};
}

FieldError TooMany(std::string field, size_t count, size_t limit) {
  return {FieldError::Kind::kTooMany, std::move(field), std::to_string(count),
          fmt::format("must have at most {} items", limit)};
}

kube::ApiError InvalidError(std::string_view kind, std::string_view group, std::string_view name,
                            const FieldErrors& errors) {
  kube::ApiError error;
  error.code = 422;
  error.reason = "Invalid";
  error.name = name;
  error.group = group;
  error.kind = kind;
  error.has_details = true;

  const size_t shown = std::min(errors.size(), kMaxSpelledOut);
  std::vector<std::string> texts;
  StringSet said;  // the same complaint about the same field is said once
  for (const FieldError& field_error : std::span(errors).first(shown)) {
    std::string text = field_error.ToString();
    error.causes.push_back(field_error.ToCause());
    if (said.insert(text).second) texts.push_back(std::move(text));
  }
  if (shown < errors.size()) {
    texts.push_back(fmt::format("and {} more errors", errors.size() - shown));
  }
  const std::string subject = group.empty() ? std::string(kind) : fmt::format("{}.{}", kind, group);
  error.message = fmt::format("{} \"{}\" is invalid", subject, name);
  if (texts.size() == 1) error.message += ": " + texts.front();
  if (texts.size() > 1) error.message += ": [" + Join(texts, ", ") + "]";
  return error;
}

}  // namespace koord::apiserver
