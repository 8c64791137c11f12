#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "api/keys.h"

namespace koord::api {

// Annotations in which the scheduler says what it gave a pod. Nobody else may write them, and
// nothing that is decided about a pod rests on them.
inline constexpr std::array kOutputAnnotations{kAnnotationResourceStatus,
                                               kAnnotationDeviceAllocated,
                                               kAnnotationReservationAllocated,
                                               kAnnotationGpuMinors,
                                               kAnnotationBindTimestamp,
                                               kAnnotationBindGangGroupId,
                                               kAnnotationBindGangMemberCount,
                                               kAnnotationDeprecatedBindGangGroupId,
                                               kAnnotationDeprecatedBindGangMemberCount};

inline bool IsOutputAnnotation(std::string_view key) {
  return std::find(kOutputAnnotations.begin(), kOutputAnnotations.end(), key) !=
         kOutputAnnotations.end();
}

}  // namespace koord::api
