#pragma once
#include "manager/webhook/review/review.h"

namespace koord::manager::webhook {

// /mutate-node-status: makes nodes look larger by the ratios of their annotation.
//
// What the kubelet reports is kept beside as the raw amount, and what pods see is that times the
// ratio. Whoever else writes the status leaves cpu and memory as they were, and so does this.
Response MutateNodeStatus(const Request& request);

}  // namespace koord::manager::webhook
