#pragma once
#include <memory>
#include <optional>

#include "base/status.h"
#include "kube/http.h"
#include "kube/serving/http_server.h"

namespace boost::asio::ssl {
class context;
}
struct ssl_st;

namespace koord::kube {

// TLS 1.2 and up; clients may show a certificate, which is verified but not required.
StatusOr<std::shared_ptr<boost::asio::ssl::context>> MakeServerTlsContext(
    const TlsIdentity& identity);

// Who the peer's certificate says it is (common name, organisations as groups). None if it has
// shown none, or one that does not verify.
std::optional<UserInfo> PeerUser(ssl_st* connection);

}  // namespace koord::kube
