#include "manager/webhook/review/field_errors.h"

#include <fmt/format.h>

#include <utility>

#include "base/strings.h"

namespace koord::manager::webhook {

void FieldErrors::Add(std::string error) {
  if (errors_.size() == kMostNamed) {
    ++unnamed_;
  } else if (known_.insert(error).second) {
    errors_.push_back(std::move(error));
  }
}

void FieldErrors::Invalid(std::string_view field, std::string_view value, std::string_view why) {
  Add(fmt::format("{}: Invalid value: {}: {}", field, Quote(value), why));
}

void FieldErrors::Forbidden(std::string_view field, std::string_view why) {
  Add(fmt::format("{}: Forbidden: {}", field, why));
}

void FieldErrors::Required(std::string_view field, std::string_view why) {
  Add(fmt::format("{}: Required value: {}", field, why));
}

std::string FieldErrors::ToString() const {
  if (errors_.size() == 1) return errors_[0];
  const std::string more = unnamed_ > 0 ? fmt::format(", and {} more", unnamed_) : "";
  return fmt::format("[{}{}]", Join(errors_, ", "), more);
}

}  // namespace koord::manager::webhook
