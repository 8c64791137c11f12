#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

// Owners for OpenSSL's objects. Included by .cc files only.
namespace koord::kube {

template <auto kFree>
struct OpensslDeleter {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using BioPtr = std::unique_ptr<BIO, OpensslDeleter<BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslDeleter<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, OpensslDeleter<X509_free>>;
using DigestPtr = std::unique_ptr<EVP_MD_CTX, OpensslDeleter<EVP_MD_CTX_free>>;

inline BioPtr ReadBio(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}
inline X509Ptr ReadCertificate(std::string_view pem) {
  return X509Ptr(PEM_read_bio_X509(ReadBio(pem).get(), nullptr, nullptr, nullptr));
}
inline KeyPtr ReadKey(std::string_view pem) {
  return KeyPtr(PEM_read_bio_PrivateKey(ReadBio(pem).get(), nullptr, nullptr, nullptr));
}

// What went wrong last, in OpenSSL's words; clears its list.
inline Status OpensslError(std::string_view what) {
  char text[256] = "unknown reason";
  if (const unsigned long code = ERR_peek_last_error()) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return Internal("{}: {}", what, text);
}

}  // namespace koord::kube
