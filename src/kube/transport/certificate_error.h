#pragma once
#include <string_view>

#include "base/status.h"

namespace koord::kube {

// The peer of a TLS connection showed a certificate that is not to be trusted. Whoever asked may
// know another way; time alone does not help.
Status CertificateRefusedError(std::string_view message);
bool WasCertificateRefused(const Status& status);

}  // namespace koord::kube
