#include "kube/serving/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/ssl/context.hpp>
#include <string>
#include <vector>

#include "base/strings.h"

namespace koord::kube {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

Status TlsError(std::string_view what, const error_code& error) {
  return InvalidArgument("the {} cannot be used for TLS: {}", what, error.message());
}

// Clients choose which of their certificates to show by the names in this list.
void NameClientCas(SSL_CTX* context, const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  while (X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
    SSL_CTX_add_client_CA(context, certificate);
    X509_free(certificate);
  }
  BIO_free(bio);
  ERR_clear_error();  // the end of the list counts as one
}

Status TrustClients(ssl::context& context, const std::string& pem) {
  error_code error;
  context.add_certificate_authority(boost::asio::buffer(pem), error);
  if (error) return TlsError("client CA", error);
  NameClientCas(context.native_handle(), pem);
  // A certificate that does not verify does not end the handshake: its owner gets an answer that
  // says what is wrong. PeerUser asks for the result.
  SSL_CTX_set_verify(context.native_handle(), SSL_VERIFY_PEER,
                     [](int, X509_STORE_CTX*) { return 1; });
  return absl::OkStatus();
}

std::vector<std::string> Entries(X509_NAME* name, int nid) {
  std::vector<std::string> values;
  for (int i = -1; (i = X509_NAME_get_index_by_NID(name, nid, i)) >= 0;) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, i)));
    if (size < 0) continue;
    values.emplace_back(reinterpret_cast<char*>(text), static_cast<size_t>(size));
    OPENSSL_free(text);
  }
  return values;
}

}  // namespace

StatusOr<std::shared_ptr<ssl::context>> MakeServerTlsContext(const TlsIdentity& identity) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* handle = context->native_handle();
  SSL_CTX_set_min_proto_version(handle, identity.only_tls_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_options(handle, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(handle, 1);
  // Sessions are resumed by tickets, which their clients keep: what is kept here grows with every
  // stranger. Idle connections need no buffers either.
  SSL_CTX_set_session_cache_mode(handle, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(handle, SSL_MODE_RELEASE_BUFFERS);
  constexpr unsigned char kSessionContext[] = "koordinator";
  SSL_CTX_set_session_id_context(handle, kSessionContext, sizeof kSessionContext - 1);

  error_code error;
  context->use_certificate_chain(boost::asio::buffer(identity.certificate), error);
  if (error) return TlsError("serving certificate", error);
  context->use_private_key(boost::asio::buffer(identity.key), ssl::context::pem, error);
  if (error) return TlsError("serving key", error);
  if (!identity.client_ca.empty()) RETURN_IF_ERROR(TrustClients(*context, identity.client_ca));
  return context;
}

std::optional<UserInfo> PeerUser(SSL* connection) {
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      SSL_get1_peer_certificate(connection), X509_free);
  if (certificate == nullptr || SSL_get_verify_result(connection) != X509_V_OK) return {};
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const std::vector<std::string> names = Entries(subject, NID_commonName);
  if (names.empty() || names.front().empty()) return {};
  UserInfo user;
  user.name = names.front();
  user.groups = Entries(subject, NID_organizationName);
  return user;
}

}  // namespace koord::kube
