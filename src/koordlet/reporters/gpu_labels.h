#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "kube/objects/meta.h"

// What all sources of GPUs say in the same words.
namespace koord::koordlet {

// "NVIDIA A100 80GB" is A100-80GB.
std::string ModelLabel(std::string_view model);

kube::Condition HealthCondition(bool healthy, std::string reason, std::string message);

// The value that all have; empty where they differ.
class Common {
 public:
  void Add(const std::string& value) {
    if (!value_) value_ = value;
    if (*value_ != value) value_ = "";
  }
  std::string value() const { return value_.value_or(""); }

 private:
  std::optional<std::string> value_;
};

}  // namespace koord::koordlet
