#pragma once
#include <cstdint>
#include <string_view>

namespace koord::scheduler {

// The parts of an attempt whose time is taken. Filtering and scoring are one pass over rows that
// have changed, and are one point here.
enum class CyclePoint : uint8_t {
  kFilter,
  kPostFilter,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
};
inline constexpr size_t kCyclePoints = static_cast<size_t>(CyclePoint::kPostBind) + 1;

constexpr std::string_view ToString(CyclePoint point) {
  constexpr std::string_view kNames[kCyclePoints] = {"Filter",  "PostFilter", "Reserve", "Permit",
                                                     "PreBind", "Bind",       "PostBind"};
  return kNames[static_cast<size_t>(point)];
}

}  // namespace koord::scheduler
