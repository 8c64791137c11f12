#include "kube/serving/http_server.h"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "base/log.h"
#include "base/scope.h"
#include "base/strings.h"
#include "kube/serving/session.h"
#include "kube/serving/tls_context.h"

namespace koord::kube {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;

constexpr Duration kStopGrace = 500ms;
// After an error that will not go away at once, such as too many open files.
constexpr Duration kAcceptPause = 100ms;

Peer PeerOf(const tcp::socket& socket) {
  error_code gone;
  asio::ip::address address = socket.remote_endpoint(gone).address();
  if (gone) return {};
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return {address.to_string(), address.is_loopback()};
}

// A session on a stream of Asio's. The stream's operations keep it alive.
template <class Stream>
class Connection : public Session {
 public:
  template <class... Args>
  explicit Connection(std::shared_ptr<SessionGroup> group, Args&&... args)
      : Session(std::move(group)), stream_(std::forward<Args>(args)...) {}

 protected:
  void StartRead(std::span<char> room) override {
    stream_.async_read_some(
        asio::buffer(room.data(), room.size()),
        [this, self = shared_from_this()](const error_code& error, size_t size) {
          error ? OnGone() : OnRead(size);
        });
  }
  void StartWrite(std::string_view bytes) override {
    asio::async_write(stream_, asio::buffer(bytes),
                      [this, self = shared_from_this()](const error_code& error, size_t) {
                        error ? OnGone() : OnWritten();
                      });
  }
  void CloseWire() override {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

  Stream stream_;
};

class PlainConnection final : public Connection<tcp::socket> {
 public:
  using Connection::Connection;
  void Start() { Begin(std::nullopt); }

 private:
  void StartShutdown() override {
    error_code ignored;
    stream_.shutdown(tcp::socket::shutdown_send, ignored);  // the read under way sees the end
  }
};

class TlsConnection final : public Connection<ssl::stream<tcp::socket>> {
 public:
  TlsConnection(std::shared_ptr<SessionGroup> group, tcp::socket socket,
                std::shared_ptr<ssl::context> context)
      : Connection(std::move(group), std::move(socket), *context), context_(std::move(context)) {}

  void Start() {
    stream_.async_handshake(ssl::stream_base::server,
                            [this, self = shared_from_this()](const error_code& error) {
                              error ? OnGone() : Begin(PeerUser(stream_.native_handle()));
                            });
  }

 private:
  void StartShutdown() override {
    stream_.async_shutdown([this, self = shared_from_this()](const error_code&) { OnGone(); });
  }

  const std::shared_ptr<ssl::context> context_;  // outlives its use by the stream
};

class Server final : public HttpServer {
 public:
  Server(AsioLoop& loop, const Options& options, HostPolicy hosts, HttpHandler& handler)
      : acceptor_(loop.context()),
        pause_(loop),
        group_(std::make_shared<SessionGroup>(loop, options.session, std::move(hosts), handler,
                                              options.gate)) {}
  ~Server() override { group_->CloseAll(); }

  uint16_t port() const override { return endpoint_.port(); }
  std::string url() const override {
    auto address = endpoint_.address();
    if (address.is_unspecified()) address = asio::ip::address_v4::loopback();
    const std::string host =
        address.is_v6() ? fmt::format("[{}]", address.to_string()) : address.to_string();
    return fmt::format("{}://{}:{}", tls_ ? "https" : "http", host, endpoint_.port());
  }
  size_t connections() const override { return group_->size(); }
  size_t streams() const override { return group_->streams(); }
  ServingStats stats() const override { return group_->stats(); }

  Status SetTls(const TlsIdentity& tls) override {
    ASSIGN_OR_RETURN(tls_, MakeServerTlsContext(tls));
    return absl::OkStatus();
  }

  Status Listen(const tcp::endpoint& endpoint) {
    error_code error;
    const auto failed = [&](const char* what) {
      return Unavailable("cannot {} {}:{}: {}", what, endpoint.address().to_string(),
                         endpoint.port(), error.message());
    };
    acceptor_.open(endpoint.protocol(), error);
    if (error) return failed("open a socket for");
    acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    acceptor_.bind(endpoint, error);
    if (error) return failed("listen on");
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return failed("listen on");
    endpoint_ = acceptor_.local_endpoint(error);
    Accept();
    return absl::OkStatus();
  }

  void Stop(Task done) override {
    pause_.Cancel();
    error_code ignored;
    acceptor_.close(ignored);
    group_->Stop(kStopGrace, std::move(done));
  }

 private:
  void Accept() {
    acceptor_.async_accept(scope_.Wrap([this](const error_code& error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) {
        LOG_WARNING("Cannot accept connections", {"err", error.message()});
        return pause_.Set(kAcceptPause, [this] { Accept(); });
      }
      const Peer peer = PeerOf(socket);
      if (group_->MakeWay(peer)) StartConnection(std::move(socket), peer);
      Accept();
    }));
  }

  void StartConnection(tcp::socket socket, const Peer& peer) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (tls_ != nullptr) {
      Begin(std::make_shared<TlsConnection>(group_, std::move(socket), tls_), peer);
    } else {
      Begin(std::make_shared<PlainConnection>(group_, std::move(socket)), peer);
    }
  }
  template <class ConnectionType>
  void Begin(const std::shared_ptr<ConnectionType>& connection, const Peer& peer) {
    group_->Add(connection, peer);
    connection->Start();
  }

  tcp::acceptor acceptor_;
  tcp::endpoint endpoint_;
  std::shared_ptr<ssl::context> tls_;
  Timer pause_;
  std::shared_ptr<SessionGroup> group_;
  Scope scope_;
};

}  // namespace

StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(AsioLoop& loop, Options options,
                                                        HttpHandler& handler) {
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) return InvalidArgument("{} is not an IP address", Quote(options.address));
  if (!address.is_loopback() && !options.allow_remote) {
    return FailedPrecondition(
        "{} can be reached by other machines; this has to be allowed explicitly", options.address);
  }
  std::vector<std::string> names = options.host_names;
  names.push_back(options.address);
  HostPolicy hosts = options.any_host ? HostPolicy::AnyHost() : HostPolicy(names);

  auto server = std::make_unique<Server>(loop, options, std::move(hosts), handler);
  if (options.tls) RETURN_IF_ERROR(server->SetTls(*options.tls));
  RETURN_IF_ERROR(server->Listen(tcp::endpoint(address, options.port)));
  return server;
}

}  // namespace koord::kube
