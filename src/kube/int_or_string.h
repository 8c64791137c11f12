#pragma once
#include <cstdint>
#include <string>
#include <variant>

#include "base/status.h"
#include "kube/codec.h"

namespace koord::kube {

// A number or a text, as in `maxUnavailable: 1`, `maxUnavailable: 25%` and `port: http`.
class IntOrString {
 public:
  enum class Rounding { kFloor, kCeil };

  IntOrString() = default;  // 0
  IntOrString(int32_t number) : value_(number) {}
  IntOrString(std::string text) : value_(std::move(text)) {}
  IntOrString(const char* text) : value_(std::string(text)) {}

  bool is_int() const { return std::holds_alternative<int32_t>(value_); }
  int32_t number() const { return is_int() ? std::get<int32_t>(value_) : 0; }
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  std::string ToString() const;

  // A number as it is, "25%" as that share of `total`. Any other text is an error.
  StatusOr<int64_t> Scale(int64_t total, Rounding rounding) const;

  bool operator==(const IntOrString&) const = default;

 private:
  std::variant<int32_t, std::string> value_;
};

template <>
struct Codec<IntOrString> {
  static Status Read(JsonView in, IntOrString& out);
  static Json Write(const IntOrString& value);
};

}  // namespace koord::kube
