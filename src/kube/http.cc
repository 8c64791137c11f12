#include "kube/http.h"

#include <algorithm>

#include "base/strings.h"

namespace koord::kube {

std::string_view Headers::Get(std::string_view name) const {
  for (const auto& [key, value] : items_) {
    if (EqualsIgnoreCase(key, name)) return value;
  }
  return {};
}

bool Headers::Has(std::string_view name) const {
  return std::any_of(items_.begin(), items_.end(),
                     [&](const auto& item) { return EqualsIgnoreCase(item.first, name); });
}

void Headers::Set(std::string_view name, std::string value) {
  std::erase_if(items_, [&](const auto& item) { return EqualsIgnoreCase(item.first, name); });
  Add(name, std::move(value));
}

void Headers::Add(std::string_view name, std::string value) {
  items_.emplace_back(std::string(name), std::move(value));
}

}  // namespace koord::kube
