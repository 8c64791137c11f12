#include "kube/client/transport.h"

namespace koord::kube {
namespace {

constexpr char kNotSent[] = "koordinator.sh/not-sent";

}  // namespace

Status NotSentError(std::string_view message) {
  Status status = Unavailable("{}", message);
  status.SetPayload(kNotSent, absl::Cord());
  return status;
}

bool WasNotSent(const Status& status) { return status.GetPayload(kNotSent).has_value(); }

}  // namespace koord::kube
