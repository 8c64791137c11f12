#pragma once
#include "kube/client/client.h"

namespace koord::kube {

// As a member of another object; the body of a DELETE has a kind besides.
Json ToJson(const DeleteOptions& options);

// Whether a precondition on the uid has failed: the object has gone, and a younger one has its
// name. Any other conflict passes.
bool HasBeenReplaced(const Status& status);
// Whether what was asked for by name and uid is not there any more.
bool IsGone(const Status& status);

}  // namespace koord::kube
