#include "kube/transport/certificate_error.h"

#include "kube/transport/status_mark.h"

namespace koord::kube {
namespace {

constexpr StatusMark kRefused("koordinator.sh/certificate-refused");

}  // namespace

Status CertificateRefusedError(std::string_view message) {
  return kRefused.PutOn(Unavailable("{}", message));
}

bool WasCertificateRefused(const Status& status) { return kRefused.IsOn(status); }

}  // namespace koord::kube
