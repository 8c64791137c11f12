#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "kube/transport/tls_socket.h"

namespace koord::kube {

// What a connection is made on.
struct OpenSocket {
  boost::asio::ip::tcp::socket socket;
  std::unique_ptr<TlsSocket> tls;  // null: plain
};

inline boost::asio::ip::tcp::socket::wait_type WaitType(TlsSocket::Wait wait) {
  using Socket = boost::asio::ip::tcp::socket;
  return wait == TlsSocket::Wait::kReadable ? Socket::wait_read : Socket::wait_write;
}

}  // namespace koord::kube
