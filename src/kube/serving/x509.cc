#include "kube/serving/x509.h"

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/strings.h"
#include "kube/serving/openssl_ptr.h"

namespace koord::kube {
namespace {

std::time_t Seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

std::string Written(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

std::string KeyPem(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return Written(bio.get());
}

std::string CertificatePem(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return Written(bio.get());
}

bool SetRandomSerial(X509* certificate) {
  std::array<unsigned char, 16> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return false;
  bytes[0] &= 0x7f;  // serial numbers are positive
  using BignumPtr = std::unique_ptr<BIGNUM, OpensslDeleter<BN_free>>;
  const BignumPtr number(BN_bin2bn(bytes.data(), bytes.size(), nullptr));
  return BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

void AddToName(X509_NAME* name, const char* field, const std::string& value) {
  X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(value.data()),
                             static_cast<int>(value.size()), -1, 0);
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  using ExtensionPtr = std::unique_ptr<X509_EXTENSION, OpensslDeleter<X509_EXTENSION_free>>;
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool IsAddress(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

std::string AlternativeNames(const std::vector<std::string>& names) {
  std::vector<std::string> items;
  for (const std::string& name : names) items.push_back((IsAddress(name) ? "IP:" : "DNS:") + name);
  return Join(items, ",");
}

bool AddExtensions(X509* certificate, X509* issuer, const CertificateRequest& request) {
  const bool authority = request.use == CertificateUse::kAuthority;
  bool ok = AddExtension(certificate, issuer, NID_basic_constraints,
                         authority ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
            AddExtension(certificate, issuer, NID_key_usage,
                         authority ? "critical,digitalSignature,keyCertSign,cRLSign"
                                   : "critical,digitalSignature") &&
            AddExtension(certificate, issuer, NID_subject_key_identifier, "hash") &&
            AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid:always");
  if (request.use == CertificateUse::kServer) {
    ok = ok && AddExtension(certificate, issuer, NID_ext_key_usage, "serverAuth");
  }
  if (request.use == CertificateUse::kClient) {
    ok = ok && AddExtension(certificate, issuer, NID_ext_key_usage, "clientAuth");
  }
  if (!request.names.empty()) {
    ok = ok &&
         AddExtension(certificate, issuer, NID_subject_alt_name, AlternativeNames(request.names));
  }
  return ok;
}

WallTime ToWallTime(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::sys_seconds(std::chrono::seconds(timegm(&parts)));
}

std::string NameText(const GENERAL_NAME* name) {
  int type = 0;
  const auto* value = static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(name, &type));
  const unsigned char* data = ASN1_STRING_get0_data(value);
  const int size = ASN1_STRING_length(value);
  if (type == GEN_DNS) return {reinterpret_cast<const char*>(data), static_cast<size_t>(size)};
  if (type != GEN_IPADD) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(size == 4 ? AF_INET : AF_INET6, data, text.data(), text.size());
  return text.data();
}

std::vector<std::string> NamesOf(X509* certificate) {
  using NamesPtr = std::unique_ptr<GENERAL_NAMES, OpensslDeleter<GENERAL_NAMES_free>>;
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> texts;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    texts.push_back(NameText(sk_GENERAL_NAME_value(names.get(), i)));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

StatusOr<std::string> GenerateKey() {
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpensslError("cannot make a key");
  return KeyPem(key.get());
}

StatusOr<KeyPair> IssueCertificate(const CertificateRequest& request, const KeyPair* issuer) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const X509Ptr certificate(X509_new());
  if (key == nullptr || certificate == nullptr) return OpensslError("cannot make a key");
  X509_set_version(certificate.get(), X509_VERSION_3);
  X509_set_pubkey(certificate.get(), key.get());
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), Seconds(request.from));
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()), Seconds(request.until));
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (const std::string& organization : request.organizations) {
    AddToName(subject, "O", organization);
  }
  AddToName(subject, "CN", request.common_name);

  X509Ptr issuer_certificate;
  KeyPtr issuer_key;
  if (issuer != nullptr) {
    issuer_certificate = ReadCertificate(issuer->certificate);
    issuer_key = ReadKey(issuer->key);
    if (!issuer_certificate || !issuer_key) return OpensslError("cannot read the CA");
  }
  X509* const signer = issuer ? issuer_certificate.get() : certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
  if (!SetRandomSerial(certificate.get()) || !AddExtensions(certificate.get(), signer, request) ||
      X509_sign(certificate.get(), issuer ? issuer_key.get() : key.get(), EVP_sha256()) == 0) {
    return OpensslError("cannot make the certificate of " + Quote(request.common_name));
  }
  return KeyPair{CertificatePem(certificate.get()), KeyPem(key.get())};
}

StatusOr<CertificateFacts> Inspect(const KeyPair& pair) {
  const X509Ptr certificate = ReadCertificate(pair.certificate);
  const KeyPtr key = ReadKey(pair.key);
  const bool fits = certificate && key && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!fits) return InvalidArgument("not a certificate with its key");
  CertificateFacts facts;
  facts.from = ToWallTime(X509_get0_notBefore(certificate.get()));
  facts.until = ToWallTime(X509_get0_notAfter(certificate.get()));
  facts.names = NamesOf(certificate.get());
  return facts;
}

bool IsIssuedBy(const std::string& certificate, const std::string& authority) {
  const X509Ptr issued = ReadCertificate(certificate);
  const X509Ptr issuer = ReadCertificate(authority);
  const bool ok = issued && issuer && X509_check_issued(issuer.get(), issued.get()) == X509_V_OK &&
                  X509_verify(issued.get(), X509_get0_pubkey(issuer.get())) == 1;
  ERR_clear_error();
  return ok;
}

}  // namespace koord::kube
