#pragma once
#include <array>
#include <string_view>

namespace koord::scheduler {

inline constexpr std::string_view kConfigApiVersion = "kubescheduler.config.k8s.io/v1";
inline constexpr std::string_view kConfigKind = "KubeSchedulerConfiguration";
// Files of older releases say the same in the same words.
inline constexpr std::string_view kConfigApiVersionBeta3 = "kubescheduler.config.k8s.io/v1beta3";
inline constexpr std::string_view kConfigApiVersionBeta2 = "kubescheduler.config.k8s.io/v1beta2";

inline constexpr std::array<std::string_view, 3> kAcceptedApiVersions{
    kConfigApiVersion, kConfigApiVersionBeta3, kConfigApiVersionBeta2};

}  // namespace koord::scheduler
