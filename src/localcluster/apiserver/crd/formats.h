#pragma once
#include <string_view>

#include "kube/json.h"

namespace koord::apiserver {

// A `format` of OpenAPI that is checked. It says nothing about values of another JSON type.
struct Format {
  std::string_view name;
  bool (*valid)(const kube::Json& value);
};

// Null for formats that are documentation only.
const Format* FindFormat(std::string_view name);

}  // namespace koord::apiserver
