#pragma once
#include <string_view>

// What several parts of the plugin say, in the words that users know.
namespace koord::scheduler {

inline constexpr std::string_view kNoReservationMatches =
    "node(s) no reservations match reservation affinity";
inline constexpr std::string_view kNoTarget = "cannot find target reservation";
inline constexpr std::string_view kTargetIsTerminating = "target reservation is terminating";

}  // namespace koord::scheduler
