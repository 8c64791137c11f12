#pragma once
#include <string_view>

#include "kube/json.h"

// status.conditions of an object.
namespace koord::apiserver {

struct ConditionUpdate {
  std::string_view type;
  std::string_view status;  // True, False, Unknown
  std::string_view reason = {};
  std::string_view message = {};
  std::string_view time = {};  // of the transition, should this be one
  int64_t observed_generation = 0;
  bool always_message = false;  // some kinds state it even when it is empty
};

// Null if the object has no condition of this type.
const kube::Json* FindCondition(const kube::Json& object, std::string_view type);

// Adds or replaces a condition. Its transition time moves only if its status does.
void SetCondition(kube::Json& object, const ConditionUpdate& update);

}  // namespace koord::apiserver
