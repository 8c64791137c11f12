#include "kube/transport/tls_socket.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <cerrno>

namespace koord::kube {
namespace {

using boost::system::error_code;

int SocketOf(BIO* bio) { return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))); }

int NoteRetry(BIO* bio, ssize_t count, int flags) {
  BIO_clear_retry_flags(bio);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    BIO_set_flags(bio, flags | BIO_FLAGS_SHOULD_RETRY);
  }
  return static_cast<int>(count);
}

int BioRead(BIO* bio, char* data, int size) {
  const ssize_t count = ::recv(SocketOf(bio), data, static_cast<size_t>(size), MSG_DONTWAIT);
  return NoteRetry(bio, count, BIO_FLAGS_READ);
}

int BioWrite(BIO* bio, const char* data, int size) {
  const ssize_t count =
      ::send(SocketOf(bio), data, static_cast<size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
  return NoteRetry(bio, count, BIO_FLAGS_WRITE);
}

long BioControl(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

// OpenSSL's own socket BIO raises SIGPIPE when the peer has gone.
BIO* MakeSocketBio(int socket) {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_read(made, BioRead);
    BIO_meth_set_write(made, BioWrite);
    BIO_meth_set_ctrl(made, BioControl);
    return made;
  }();
  BIO* bio = BIO_new(method);
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(socket)));
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace

void TlsSocket::Free::operator()(ssl_st* handle) const { SSL_free(handle); }

TlsSocket::TlsSocket(ssl_ctx_st* context, int socket) : handle_(SSL_new(context)) {
  SSL* handle = handle_.get();
  BIO* bio = MakeSocketBio(socket);
  SSL_set_bio(handle, bio, bio);
  SSL_set_connect_state(handle);
  SSL_set_mode(handle, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                           SSL_MODE_RELEASE_BUFFERS);
  SSL_set_read_ahead(handle, 1);  // several records in one read
}

void TlsSocket::OfferHttp2() {
  static constexpr unsigned char kProtocols[] = "\x02h2\x08http/1.1";
  SSL_set_alpn_protos(handle_.get(), kProtocols, sizeof(kProtocols) - 1);
}

bool TlsSocket::SetPeerName(const std::string& name, bool verify) {
  SSL* handle = handle_.get();
  error_code not_an_address;
  boost::asio::ip::make_address(name, not_an_address);
  if (not_an_address) SSL_set_tlsext_host_name(handle, name.c_str());
  if (!verify) return true;
  X509_VERIFY_PARAM* parameters = SSL_get0_param(handle);
  X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return not_an_address ? X509_VERIFY_PARAM_set1_host(parameters, name.data(), name.size()) == 1
                        : X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str()) == 1;
}

TlsSocket::Result TlsSocket::Handshake() {
  ERR_clear_error();
  errno = 0;
  return Outcome(SSL_do_handshake(handle_.get()), 0);
}

bool TlsSocket::chose_http2() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(handle_.get(), &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

std::string TlsSocket::CertificateError() const {
  const long result = SSL_get_verify_result(handle_.get());
  return result == X509_V_OK ? "" : X509_verify_cert_error_string(result);
}

TlsSocket::Result TlsSocket::Read(std::span<char> buffer) {
  ERR_clear_error();
  errno = 0;
  size_t count = 0;
  const int result = SSL_read_ex(handle_.get(), buffer.data(), buffer.size(), &count);
  return Outcome(result, count);
}

TlsSocket::Result TlsSocket::Write(std::string_view data) {
  ERR_clear_error();
  errno = 0;
  size_t count = 0;
  const int result = SSL_write_ex(handle_.get(), data.data(), data.size(), &count);
  return Outcome(result, count);
}

bool TlsSocket::has_pending() const { return SSL_has_pending(handle_.get()) == 1; }

TlsSocket::Result TlsSocket::Outcome(int result, size_t count) {
  if (result > 0) return {count, Wait::kNone, {}};
  const int number = errno;
  switch (SSL_get_error(handle_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {0, Wait::kReadable, {}};
    case SSL_ERROR_WANT_WRITE:
      return {0, Wait::kWritable, {}};
    case SSL_ERROR_SSL:
      return {
          0, Wait::kNone,
          error_code(static_cast<int>(ERR_get_error()), boost::asio::error::get_ssl_category())};
    case SSL_ERROR_SYSCALL:
      if (number != 0)
        return {0, Wait::kNone, error_code(number, boost::system::system_category())};
      break;
  }
  return {0, Wait::kNone, boost::asio::error::eof};
}

}  // namespace koord::kube
