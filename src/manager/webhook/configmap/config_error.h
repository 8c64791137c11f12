#pragma once
#include <string>
#include <string_view>

#include "base/status.h"
#include "kube/json.h"

namespace koord::manager::webhook {

inline constexpr std::string_view kParseConfigFail = "ParseConfigFail";
inline constexpr std::string_view kConfigParamInvalid = "ConfigParamInvalid";
inline constexpr std::string_view kNodeStrategiesOverlap = "NodeStrategiesOverlap";
inline constexpr std::string_view kExistNodeConflict = "ExistNodeConfict";  // as users know it

// The form in which consoles pick the reason out of the message: ___{"reason":..,"message":..}___
Status ConfigError(std::string_view reason, const kube::Json& message);
inline Status ConfigError(std::string_view reason, const std::string& message) {
  return ConfigError(reason, kube::Json(message));
}

}  // namespace koord::manager::webhook
