#include "program/serving_identity.h"

#include "base/file.h"

namespace koord::program {
namespace {

constexpr Duration kLife = std::chrono::hours(24 * 365);
constexpr Duration kBackdate = std::chrono::hours(1);  // clocks differ

}  // namespace

StatusOr<kube::TlsIdentity> ServingIdentity::Current(WallTime now,
                                                     const std::string& more_client_ca) {
  kube::TlsIdentity identity;
  identity.only_tls_1_3 = options_.only_tls_1_3;
  if (options_.certificate_file.empty()) {
    ASSIGN_OR_RETURN(const kube::KeyPair own, Own(now));
    identity.certificate = own.certificate;
    identity.key = own.key;
  } else {
    ASSIGN_OR_RETURN(identity.certificate, ReadFile(options_.certificate_file));
    ASSIGN_OR_RETURN(identity.key, ReadFile(options_.key_file));
  }
  if (!options_.client_ca_file.empty()) {
    ASSIGN_OR_RETURN(identity.client_ca, ReadFile(options_.client_ca_file));
  }
  identity.client_ca += more_client_ca;
  return identity;
}

StatusOr<kube::KeyPair> ServingIdentity::Own(WallTime now) {
  if (own_.key.empty() || now >= renew_at_) {
    kube::CertificateRequest request;
    request.use = kube::CertificateUse::kServer;
    request.common_name = options_.program;
    request.names = options_.names;
    request.from = now - kBackdate;
    request.until = now + kLife;
    ASSIGN_OR_RETURN(own_, kube::IssueCertificate(request, nullptr));
    renew_at_ = now + kLife * 2 / 3;
  }
  return own_;
}

}  // namespace koord::program
