#include "kube/codec.h"

#include <cmath>
#include <limits>

#include "base/strings.h"

namespace koord::kube {
namespace codec_internal {

std::string_view KindName(JsonView value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "an object";
  }
  return "an unknown value";
}

Status WrongType(std::string_view expected, JsonView found) {
  if (found.is_string()) {
    return InvalidArgument(": expected {}, found {}", expected, Quote(found.get_string(), 64));
  }
  return InvalidArgument(": expected {}, found {}", expected, KindName(found));
}

Status Under(std::string_view member, const Status& error) {
  const std::string_view message = Message(error);
  const bool joins = message.starts_with('[') || message.starts_with(':');
  return InvalidArgument("{}{}{}", member, joins ? "" : ".", message);
}

}  // namespace codec_internal

Status Codec<std::string>::Read(JsonView in, std::string& out) {
  if (!in.is_string()) return codec_internal::WrongType("a string", in);
  out = in.get_string();
  return absl::OkStatus();
}

Status Codec<bool>::Read(JsonView in, bool& out) {
  if (!in.is_bool()) return codec_internal::WrongType("a boolean", in);
  out = in.get_bool();
  return absl::OkStatus();
}

Status Codec<int64_t>::Read(JsonView in, int64_t& out) {
  json::error_code error;
  out = in.to_number<int64_t>(error);
  if (error) return codec_internal::WrongType("an integer", in);
  return absl::OkStatus();
}

Status Codec<int32_t>::Read(JsonView in, int32_t& out) {
  json::error_code error;
  out = in.to_number<int32_t>(error);
  if (error) return codec_internal::WrongType("a 32-bit integer", in);
  return absl::OkStatus();
}

Status Codec<double>::Read(JsonView in, double& out) {
  json::error_code error;
  out = in.to_number<double>(error);
  if (error) return codec_internal::WrongType("a number", in);
  return absl::OkStatus();
}

Json Codec<double>::Write(double value) {
  constexpr double kExact = 9007199254740992;  // above, doubles skip integers
  const bool is_whole = std::abs(value) <= kExact && value == std::trunc(value);
  return is_whole ? Json(static_cast<int64_t>(value)) : Json(value);
}

}  // namespace koord::kube
