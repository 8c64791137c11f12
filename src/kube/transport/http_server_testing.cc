#include "kube/transport/http_server_testing.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <deque>
#include <set>

namespace koord::kube {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using tcp = asio::ip::tcp;
using boost::system::error_code;

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, Deleter<X509_free>>;
using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free>>;

std::string Contents(const BioPtr& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::string ToPem(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return Contents(bio);
}

std::string ToPem(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return Contents(bio);
}

void AddExtension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

CertificatePtr MakeCertificate(const std::string& common_name, EVP_PKEY* key, X509* issuer) {
  static long serial = 1;
  CertificatePtr certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  X509* signer = issuer == nullptr ? certificate.get() : issuer;
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
  return certificate;
}

std::string CommonName(SSL* handle) {
  const CertificatePtr peer(SSL_get1_peer_certificate(handle));
  if (peer == nullptr) return "";
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(peer.get()), NID_commonName, name, sizeof(name));
  return name;
}

}  // namespace

struct TestAuthority::Key {
  KeyPtr key{EVP_EC_gen("P-256")};
  CertificatePtr certificate;
};

TestAuthority::TestAuthority(const std::string& name) : key_(std::make_unique<Key>()) {
  key_->certificate = MakeCertificate(name, key_->key.get(), nullptr);
  AddExtension(key_->certificate.get(), key_->certificate.get(), NID_basic_constraints,
               "critical,CA:TRUE");
  X509_sign(key_->certificate.get(), key_->key.get(), EVP_sha256());
  pem_ = ToPem(key_->certificate.get());
}
TestAuthority::~TestAuthority() = default;

PemPair TestAuthority::Issue(const std::string& common_name,
                             const std::vector<std::string>& names) const {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const CertificatePtr certificate =
      MakeCertificate(common_name, key.get(), key_->certificate.get());
  std::string alternatives;
  for (const std::string& name : names) {
    error_code not_an_address;
    asio::ip::make_address(name, not_an_address);
    alternatives +=
        (alternatives.empty() ? "" : ",") + std::string(not_an_address ? "DNS:" : "IP:") + name;
  }
  if (!alternatives.empty()) {
    AddExtension(certificate.get(), key_->certificate.get(), NID_subject_alt_name, alternatives);
  }
  X509_sign(certificate.get(), key_->key.get(), EVP_sha256());
  return {ToPem(certificate.get()), ToPem(key.get())};
}

class HttpTestServer::Impl final : public std::enable_shared_from_this<Impl> {
 public:
  Impl(AsioLoop& loop, HttpHandler& handler, std::optional<Tls> tls)
      : loop(loop),
        handler(handler),
        acceptor(loop.context(), tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    if (!tls) return;
    context.emplace(ssl::context::tls_server);
    context->use_certificate_chain(asio::buffer(tls->identity.certificate));
    context->use_private_key(asio::buffer(tls->identity.key), ssl::context::pem);
    if (tls->client_authority.empty()) return;
    context->add_certificate_authority(asio::buffer(tls->client_authority));
    context->set_verify_mode(ssl::verify_peer);
  }

  void Accept();

  AsioLoop& loop;
  HttpHandler& handler;
  tcp::acceptor acceptor;
  std::optional<ssl::context> context;
  std::set<std::shared_ptr<Session>> sessions;
  size_t accepted = 0;
  bool dead = false;
};

class HttpTestServer::Session final : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<Impl> server, tcp::socket socket)
      : server_(std::move(server)), socket_(std::move(socket)) {}

  void Start() {
    if (!server_->context) return Read();
    tls_.emplace(socket_, *server_->context);
    tls_->async_handshake(ssl::stream_base::server,
                          [self = shared_from_this()](const error_code& error) {
                            error ? self->Close() : self->Read();
                          });
  }

  void Close() {
    error_code ignored;
    socket_.close(ignored);
    if (auto callback = std::exchange(on_disconnect, nullptr)) callback();
    server_->sessions.erase(shared_from_this());
  }

  void Push(std::string bytes) {
    output_.push_back(std::move(bytes));
    if (output_.size() == 1) Flush();
  }
  // The answer is complete once everything pushed is written.
  void EndAnswer(bool keep_alive) {
    on_disconnect = nullptr;
    keep_alive_ = keep_alive;
    answered_ = true;
    if (output_.empty()) NextRequest();
  }
  size_t pending() const { return output_.size(); }

  absl::AnyInvocable<void()> on_disconnect;

 private:
  class Writer;

  template <class F>
  void WithStream(F function) {
    if (tls_) {
      function(*tls_);
    } else {
      function(socket_);
    }
  }

  void Read() {
    request_ = {};
    WithStream([this](auto& stream) {
      http::async_read(stream, buffer_, request_,
                       [self = shared_from_this()](const error_code& error, size_t) {
                         error ? self->Close() : self->OnRequest();
                       });
    });
  }

  void OnRequest();

  void NoticeDisconnect() {
    socket_.async_wait(
        tcp::socket::wait_read, [self = shared_from_this()](const error_code& error) {
          char byte = 0;
          if (error || !self->on_disconnect) return;
          const ssize_t count =
              ::recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
          if (count <= 0) self->Close();
        });
  }

  void Flush() {
    WithStream([this](auto& stream) {
      asio::async_write(stream, asio::buffer(output_.front()),
                        [self = shared_from_this()](const error_code& error, size_t) {
                          if (error) return self->Close();
                          self->output_.pop_front();
                          if (!self->output_.empty()) return self->Flush();
                          if (self->answered_) self->NextRequest();
                        });
    });
  }

  void NextRequest() {
    answered_ = false;
    keep_alive_ ? Read() : Close();
  }

  std::shared_ptr<Impl> server_;
  tcp::socket socket_;
  std::optional<ssl::stream<tcp::socket&>> tls_;
  boost::beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  std::deque<std::string> output_;
  bool answered_ = false;
  bool keep_alive_ = true;
};

class HttpTestServer::Session::Writer final : public ResponseWriter {
 public:
  explicit Writer(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  ~Writer() override {
    if (!ended_) session_->Close();
  }

  void Finish(HttpResponse response) override {
    std::string text = Head(response) + "Content-Length: " + std::to_string(response.body.size()) +
                       "\r\n\r\n" + response.body;
    session_->Push(std::move(text));
    ended_ = true;
    session_->EndAnswer(response.headers.Get("Connection") != "close");
  }
  void StartStream(HttpResponse head) override {
    session_->Push(Head(head) + "Transfer-Encoding: chunked\r\n\r\n");
  }
  void Write(std::shared_ptr<const std::string> chunk) override {
    char size[32];
    std::snprintf(size, sizeof(size), "%zx\r\n", chunk->size());
    session_->Push(size + *chunk + "\r\n");
  }
  void End() override {
    session_->Push("0\r\n\r\n");
    ended_ = true;
    session_->EndAnswer(true);
  }
  size_t pending_chunks() const override { return session_->pending(); }
  void OnDisconnect(absl::AnyInvocable<void()> callback) override {
    session_->on_disconnect = std::move(callback);
  }

 private:
  static std::string Head(const HttpResponse& response) {
    std::string text = "HTTP/1.1 " + std::to_string(response.status) + " X\r\n";
    for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
    return text;
  }

  std::shared_ptr<Session> session_;
  bool ended_ = false;
};

void HttpTestServer::Session::OnRequest() {
  HttpRequest request;
  request.method = std::string(request_.method_string());
  request.target = std::string(request_.target());
  for (const auto& field : request_) {
    request.headers.Add(std::string(field.name_string()), std::string(field.value()));
  }
  request.body = std::move(request_.body());
  if (tls_) {
    if (std::string name = CommonName(tls_->native_handle()); !name.empty()) {
      request.user = UserInfo{std::move(name), "", {}, {}};
    }
  }
  server_->handler.Handle(std::move(request), std::make_shared<Writer>(shared_from_this()));
  NoticeDisconnect();
}

void HttpTestServer::Impl::Accept() {
  acceptor.async_accept([self = shared_from_this()](const error_code& error, tcp::socket socket) {
    if (error) return;
    ++self->accepted;
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto session = std::make_shared<Session>(self, std::move(socket));
    self->sessions.insert(session);
    if (!self->dead) session->Start();
    self->Accept();
  });
}

HttpTestServer::HttpTestServer(AsioLoop& loop, HttpHandler& handler, std::optional<Tls> tls)
    : impl_(std::make_shared<Impl>(loop, handler, std::move(tls))) {
  impl_->Accept();
}
HttpTestServer::~HttpTestServer() {
  error_code ignored;
  impl_->acceptor.close(ignored);
  CloseConnections();
}

std::string HttpTestServer::port() const {
  return std::to_string(impl_->acceptor.local_endpoint().port());
}
size_t HttpTestServer::accepted() const { return impl_->accepted; }
size_t HttpTestServer::open() const { return impl_->sessions.size(); }
void HttpTestServer::CloseConnections() {
  const auto sessions = impl_->sessions;
  for (const auto& session : sessions) session->Close();
}
void HttpTestServer::PlayDead(bool dead) { impl_->dead = dead; }

class TestProxy::Impl final : public std::enable_shared_from_this<Impl> {
 public:
  Impl(AsioLoop& loop, int answer)
      : answer(answer),
        acceptor(loop.context(), tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {}

  void Accept() {
    acceptor.async_accept([self = shared_from_this()](const error_code& error, tcp::socket socket) {
      if (error) return;
      auto tunnel = std::make_shared<Tunnel>(std::move(socket));
      self->tunnels.push_back(tunnel);
      tunnel->Start(*self);
      self->Accept();
    });
  }

  struct Tunnel final : std::enable_shared_from_this<Tunnel> {
    explicit Tunnel(tcp::socket socket)
        : client(std::move(socket)), server(client.get_executor()) {}

    void Start(Impl& proxy) {
      http::async_read_header(
          client, buffer, parser,
          [self = shared_from_this(), &proxy](const error_code& error, size_t) {
            if (error) return;
            const auto& request = self->parser.get();
            proxy.requests.push_back(std::string(request.method_string()) + " " +
                                     std::string(request.target()) + " " +
                                     std::string(request[http::field::proxy_authorization]));
            self->Answer(proxy.answer, std::string(request.target()));
          });
    }

    void Answer(int status, const std::string& target) {
      answer = "HTTP/1.1 " + std::to_string(status) + " X\r\n\r\n";
      asio::write(client, asio::buffer(answer));
      if (status != 200) return client.close();
      const auto port = static_cast<uint16_t>(std::stoi(target.substr(target.rfind(':') + 1)));
      server.connect({asio::ip::address_v4::loopback(), port});
      Copy(client, server, up);
      Copy(server, client, down);
    }

    void Copy(tcp::socket& from, tcp::socket& to, std::array<char, 4096>& chunk) {
      from.async_read_some(asio::buffer(chunk), [self = shared_from_this(), &from, &to, &chunk](
                                                    const error_code& error, size_t count) {
        error_code failed = error;
        if (!failed) asio::write(to, asio::buffer(chunk, count), failed);
        if (!failed) return self->Copy(from, to, chunk);
        error_code ignored;
        to.close(ignored);
      });
    }

    tcp::socket client, server;
    boost::beast::flat_buffer buffer;
    http::request_parser<http::empty_body> parser;
    std::string answer;
    std::array<char, 4096> up, down;
  };

  const int answer;
  tcp::acceptor acceptor;
  std::vector<std::shared_ptr<Tunnel>> tunnels;
  std::vector<std::string> requests;
};

TestProxy::TestProxy(AsioLoop& loop, int answer) : impl_(std::make_shared<Impl>(loop, answer)) {
  impl_->Accept();
}
TestProxy::~TestProxy() {
  error_code ignored;
  impl_->acceptor.close(ignored);
  for (const auto& tunnel : impl_->tunnels) {
    tunnel->client.close(ignored);
    tunnel->server.close(ignored);
  }
}
std::string TestProxy::port() const {
  return std::to_string(impl_->acceptor.local_endpoint().port());
}
const std::vector<std::string>& TestProxy::requests() const { return impl_->requests; }

}  // namespace koord::kube
