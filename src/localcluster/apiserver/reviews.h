#pragma once
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"

namespace koord::apiserver {

// Questions that are asked by a POST and answered on the spot, nothing being stored: who am I, who
// does this token stand for, may I do that. There is no RBAC here: whoever is authenticated may do
// everything, and is told so.
//
// True if the request is one of these, and answered.
bool HandleReview(Core& core, Request& request);

// POST serviceaccounts/<name>/token.
void IssueToken(Core& core, Request& request);

}  // namespace koord::apiserver
