#pragma once
#include <boost/system/error_code.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace koord::kube {

// TLS by OpenSSL itself on a non-blocking socket that somebody else owns. Nothing here waits: each
// call does what can be done now, or says what the socket has to become first.
class TlsSocket {
 public:
  enum class Wait { kNone, kReadable, kWritable };
  struct Result {
    size_t count = 0;  // bytes
    Wait wait = Wait::kNone;
    boost::system::error_code error;  // eof: the peer has closed
  };

  TlsSocket(ssl_ctx_st* context, int socket);

  // What to offer and to ask of the peer, before the handshake.
  void OfferHttp2();
  bool SetPeerName(const std::string& name, bool verify);

  Result Handshake();
  // After the handshake: whether the peer has chosen HTTP/2.
  bool chose_http2() const;
  // Why the peer's certificate was refused; empty if that was not the reason.
  std::string CertificateError() const;

  Result Read(std::span<char> buffer);  // at least one byte, unless it waits or fails
  Result Write(std::string_view data);  // a part of it
  bool has_pending() const;             // received, but not read yet

 private:
  struct Free {
    void operator()(ssl_st* handle) const;
  };

  Result Outcome(int result, size_t count);

  std::unique_ptr<ssl_st, Free> handle_;
};

}  // namespace koord::kube
