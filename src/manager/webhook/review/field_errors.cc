#include "manager/webhook/review/field_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace koord::manager::webhook {

void FieldErrors::Add(std::string error) {
  if (std::ranges::find(errors_, error) == errors_.end()) errors_.push_back(std::move(error));
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
  return errors_.size() == 1 ? errors_[0] : "[" + Join(errors_, ", ") + "]";
}

}  // namespace koord::manager::webhook
