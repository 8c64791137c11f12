#include "kube/transport/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>

namespace koord::kube {
namespace {

namespace ssl = boost::asio::ssl;

Status LoadIdentity(ssl::context& context, const TlsFiles& files) {
  if (files.certificate.empty() && files.key.empty()) return absl::OkStatus();
  if (files.certificate.empty() || files.key.empty()) {
    return InvalidArgument("a client certificate and its key must be given together");
  }
  boost::system::error_code error;
  context.use_certificate_chain(boost::asio::buffer(files.certificate), error);
  if (error) return InvalidArgument("the client certificate is not PEM: {}", error.message());
  context.use_private_key(boost::asio::buffer(files.key), ssl::context::pem, error);
  if (error) {
    return InvalidArgument("the client key is not PEM or does not belong to the certificate: {}",
                           error.message());
  }
  if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
    ERR_clear_error();
    return InvalidArgument("the client key does not belong to the client certificate");
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<std::shared_ptr<ssl::context>> MakeTlsContext(const TlsFiles& files) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  boost::system::error_code error;
  if (files.insecure) {
    context->set_verify_mode(ssl::verify_none);
  } else {
    context->set_verify_mode(ssl::verify_peer);
    if (files.authorities.empty()) {
      context->set_default_verify_paths(error);
    } else {
      context->add_certificate_authority(boost::asio::buffer(files.authorities), error);
    }
    if (error) return InvalidArgument("the certificate authority is not PEM: {}", error.message());
  }
  RETURN_IF_ERROR(LoadIdentity(*context, files));
  return context;
}

}  // namespace koord::kube
