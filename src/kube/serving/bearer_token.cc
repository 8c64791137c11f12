#include "kube/serving/bearer_token.h"

#include <openssl/sha.h>

#include "base/strings.h"

namespace koord::kube {

std::string_view BearerToken(const Headers& headers) {
  const std::string_view value = headers.Get("Authorization");
  constexpr std::string_view kScheme = "Bearer ";
  if (!EqualsIgnoreCase(value.substr(0, kScheme.size()), kScheme)) return {};
  return Trim(value.substr(kScheme.size()));
}

std::string SecretDigest(std::string_view secret) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(secret.data()), secret.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace koord::kube
