#include "kube/int_or_string.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/strings.h"

namespace koord::kube {
namespace {

std::optional<int64_t> ParsePercent(std::string_view text) {
  if (!text.ends_with('%')) return {};
  text.remove_suffix(1);
  if (text.starts_with('-')) return {};
  return ParseInt(text);
}

}  // namespace

std::string IntOrString::ToString() const { return is_int() ? std::to_string(number()) : *text(); }

StatusOr<int64_t> IntOrString::Scale(int64_t total, Rounding rounding) const {
  if (is_int()) return number();
  const std::optional<int64_t> percent = ParsePercent(*text());
  if (!percent) {
    return InvalidArgument("expected a number or a percentage like 25%, found {}",
                           Quote(*text(), 64));
  }
  const __int128 product = __int128{*percent} * total;
  __int128 share = product / 100;  // towards zero
  if (product % 100 != 0) {
    if (rounding == Rounding::kCeil && product > 0) ++share;
    if (rounding == Rounding::kFloor && product < 0) --share;
  }
  using Limits = std::numeric_limits<int64_t>;
  return static_cast<int64_t>(std::clamp<__int128>(share, Limits::min(), Limits::max()));
}

Status Codec<IntOrString>::Read(JsonView in, IntOrString& out) {
  if (in.is_string()) {
    out = std::string(in.get_string());
    return absl::OkStatus();
  }
  json::error_code error;
  const auto number = in.to_number<int32_t>(error);
  if (error) return codec_internal::WrongType("a 32-bit integer or a string", in);
  out = number;
  return absl::OkStatus();
}

Json Codec<IntOrString>::Write(const IntOrString& value) {
  return value.is_int() ? Json(value.number()) : Json(*value.text());
}

}  // namespace koord::kube
