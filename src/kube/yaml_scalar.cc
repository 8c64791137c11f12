#include "kube/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace koord::kube {
namespace {

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

template <class T>
std::optional<T> ParseWhole(std::string_view text, int base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

struct Digits {
  std::string_view text;
  int base = 10;
};

Digits SplitBase(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return {text.substr(2), 16};
  if (text.starts_with("0b") || text.starts_with("0B")) return {text.substr(2), 2};
  if (text.starts_with("0o") || text.starts_with("0O")) return {text.substr(2), 8};
  if (text.size() > 1 && text.front() == '0') return {text.substr(1), 8};
  return {text, 10};
}

std::optional<Json> ResolveInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const Digits digits = SplitBase(text);
  if (digits.text.starts_with('-')) return {};
  const std::optional<uint64_t> magnitude = ParseWhole<uint64_t>(digits.text, digits.base);
  if (!magnitude) return {};
  constexpr uint64_t kLargest = std::numeric_limits<int64_t>::max();
  if (negative) {
    if (*magnitude > kLargest + 1) return {};
    return Json(static_cast<int64_t>(-*magnitude));
  }
  if (*magnitude > kLargest) return Json(*magnitude);
  return Json(static_cast<int64_t>(*magnitude));
}

std::optional<Json> ResolveFloat(std::string_view text) {
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return {};
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return {};
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  constexpr double kExactIntegers = 1LL << 53;
  if (value == std::floor(value) && std::abs(value) < kExactIntegers) {
    return Json(static_cast<int64_t>(value));
  }
  return Json(value);
}

std::optional<Json> ResolveNumber(std::string_view text) {
  std::string without_underscores;
  std::string_view digits = text;
  if (text.find('_') != std::string_view::npos) {
    without_underscores = text;
    std::erase(without_underscores, '_');
    digits = without_underscores;
  }
  if (std::optional<Json> integer = ResolveInteger(digits)) return integer;
  return ResolveFloat(text);
}

Json ResolveWord(std::string_view text) {
  if (IsOneOf(text, {"~", "null", "Null", "NULL"})) return nullptr;
  if (IsOneOf(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (IsOneOf(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) {
    return false;
  }
  return Json(text);
}

}  // namespace

// Lists may be long, so what a scalar cannot be is not looked for.
Json ResolvePlainScalar(std::string_view text) {
  if (text.empty()) return nullptr;
  constexpr std::string_view kNumberStarts = "0123456789+-.";
  if (kNumberStarts.find(text.front()) != std::string_view::npos) {
    std::optional<Json> number = ResolveNumber(text);
    return number ? *std::move(number) : Json(text);
  }
  constexpr size_t kLongestWord = 5;
  return text.size() > kLongestWord ? Json(text) : ResolveWord(text);
}

}  // namespace koord::kube
