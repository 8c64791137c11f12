#pragma once
#include <memory>
#include <string>

#include "base/status.h"

namespace boost::asio::ssl {
class context;
}

namespace koord::kube {

// What is needed to open TLS connections, all as PEM text.
struct TlsFiles {
  std::string authorities;  // empty: the system's
  std::string certificate, key;
  bool insecure = false;  // accept any server
  bool operator==(const TlsFiles&) const = default;
};

// TLS 1.2 or later; the server is verified unless `insecure` says otherwise.
StatusOr<std::shared_ptr<boost::asio::ssl::context>> MakeTlsContext(const TlsFiles& files);

}  // namespace koord::kube
