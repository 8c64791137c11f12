#pragma once
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"

// Certificates and keys (ECDSA P-256), as PEM.
namespace koord::kube {

struct KeyPair {
  std::string certificate;
  std::string key;
};

enum class CertificateUse { kAuthority, kServer, kClient };

struct CertificateRequest {
  CertificateUse use = CertificateUse::kClient;
  std::string common_name;
  std::vector<std::string> organizations = {};
  std::vector<std::string> names = {};  // DNS names and IP addresses of a server
  WallTime from = {};
  WallTime until = {};
};

StatusOr<std::string> GenerateKey();
// Without an issuer the certificate is its own.
StatusOr<KeyPair> IssueCertificate(const CertificateRequest& request, const KeyPair* issuer);

struct CertificateFacts {
  WallTime from = {};
  WallTime until = {};
  std::vector<std::string> names = {};  // sorted
};
// kInvalidArgument unless the two are a certificate and its key.
StatusOr<CertificateFacts> Inspect(const KeyPair& pair);
bool IsIssuedBy(const std::string& certificate, const std::string& authority);

}  // namespace koord::kube
