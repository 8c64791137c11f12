#pragma once
#include <string_view>

#include "base/status.h"
#include "kube/json.h"

namespace koord::kube {

// As ParseShortLivedJson, but without metadata.managedFields: a third of most objects, which those
// who watch them have no use for.
StatusOr<Json> ParseWatchedJson(std::string_view text);

}  // namespace koord::kube
