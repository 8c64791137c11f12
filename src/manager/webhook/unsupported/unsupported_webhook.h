#pragma once
#include "manager/webhook/review/review.h"

// /validate-unsupported: objects that are accepted and have no effect yet. Whoever creates one is
// told; nobody is refused.
namespace koord::manager::webhook {

Response WarnOfUnsupported(const Request& request);

}  // namespace koord::manager::webhook
