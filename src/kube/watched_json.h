#pragma once
#include <boost/json/monotonic_resource.hpp>
#include <string_view>

#include "base/status.h"
#include "kube/json.h"

namespace koord::kube {

// Parses into `memory`, which the value and every copy of it needs to live; an assignment to a
// value of other memory is free of it. Leaves metadata.managedFields out: a third of most objects,
// which those who watch them have no use for.
StatusOr<Json> ParseWatchedJson(std::string_view text, json::monotonic_resource& memory);

}  // namespace koord::kube
