#pragma once
#include <string_view>

#include "api/node_slo.h"
#include "base/known_problems.h"

namespace koord::koordlet {

// What the NodeSLO says over the defaults, and nothing of blocks that are switched off. A number
// that makes no sense is left out, so that its default holds, and the rest of the object counts;
// it is logged once for `object`.
api::NodeSloSpec MergeNodeSlo(const api::NodeSloSpec& spec, std::string_view object,
                              KnownProblems& known_problems);
api::NodeSloSpec MergeNodeSlo(const api::NodeSloSpec& spec);

}  // namespace koord::koordlet
