#include "manager/webhook/unsupported/unsupported_webhook.h"

#include <utility>

#include "api/unsupported.h"

namespace koord::manager::webhook {

Response WarnOfUnsupported(const Request& request) {
  Response response = Response::Allowed();
  if (request.operation != Operation::kCreate || !request.subresource.empty()) return response;
  auto why = api::UnsupportedKind(request.group, kube::FindString(request.object, {"kind"}));
  if (why) response.warnings.push_back(*std::move(why));
  return response;
}

}  // namespace koord::manager::webhook
