#pragma once
#include <string_view>

#include "kube/json.h"

namespace koord::kube {

// What an unquoted YAML scalar stands for: null, a boolean, a number or a string.
Json ResolvePlainScalar(std::string_view text);

}  // namespace koord::kube
