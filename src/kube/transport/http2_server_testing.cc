#include "kube/transport/http2_server_testing.h"

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace koord::kube {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using tcp = asio::ip::tcp;
using boost::system::error_code;

int ChooseHttp2(SSL*, const unsigned char** chosen, unsigned char* size,
                const unsigned char* offered, unsigned offered_size, void*) {
  static constexpr unsigned char kWanted[] = "\x02h2";
  unsigned char* out = nullptr;
  if (SSL_select_next_proto(&out, size, kWanted, 3, offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = out;
  return SSL_TLSEXT_ERR_OK;
}

// A request, and the answer as far as it has not been sent.
struct TestStream {
  HttpRequest request;
  std::deque<std::string> chunks;
  size_t sent = 0;  // of the first chunk
  bool ended = false;
  absl::AnyInvocable<void()> on_disconnect;
};

nghttp2_nv HeaderField(const std::string& name, const std::string& value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

class Http2TestServer::Impl final : public std::enable_shared_from_this<Impl> {
 public:
  Impl(AsioLoop& loop, HttpHandler& handler, const PemPair& identity, uint32_t max_streams)
      : handler(handler),
        max_streams(max_streams),
        acceptor(loop.context(), tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        context(ssl::context::tls_server) {
    context.use_certificate_chain(asio::buffer(identity.certificate));
    context.use_private_key(asio::buffer(identity.key), ssl::context::pem);
    SSL_CTX_set_alpn_select_cb(context.native_handle(), ChooseHttp2, nullptr);
  }

  void Accept();

  HttpHandler& handler;
  const uint32_t max_streams;
  tcp::acceptor acceptor;
  ssl::context context;
  std::set<std::shared_ptr<Session>> sessions;
  size_t accepted = 0, pings = 0, reads = 0;
  int refusals = 0;
  bool dead = false;
};

class Http2TestServer::Session final : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<Impl> server, tcp::socket socket)
      : server_(std::move(server)), stream_(std::move(socket), server_->context) {}
  ~Session() { nghttp2_session_del(session_); }

  void Start() {
    MakeSession();
    stream_.async_handshake(ssl::stream_base::server,
                            [self = shared_from_this()](const error_code& error) {
                              if (error) return self->Close();
                              self->Flush();
                              self->Read();
                            });
  }

  void Close() {
    if (std::exchange(closed_, true)) return;
    error_code ignored;
    stream_.lowest_layer().close(ignored);
    for (auto& [id, stream] : std::exchange(streams_, {})) Disconnect(*stream);
    server_->sessions.erase(shared_from_this());
  }

  void GoAway(int handled) {
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, 2 * handled - 1, NGHTTP2_NO_ERROR, nullptr,
                          0);
    Flush();
  }

  void Answer(int32_t id, const HttpResponse& response) {
    if (closed_) return;
    std::vector<std::pair<std::string, std::string>> headers{
        {":status", std::to_string(response.status)}};
    for (const auto& [name, value] : response.headers) headers.emplace_back(name, value);
    for (auto& [name, value] : headers) {
      for (char& c : name) c = static_cast<char>(std::tolower(c));
    }
    std::vector<nghttp2_nv> fields;
    for (const auto& [name, value] : headers) fields.push_back(HeaderField(name, value));
    nghttp2_data_provider body{};
    body.read_callback = ReadBody;
    nghttp2_submit_response(session_, id, fields.data(), fields.size(), &body);
    Flush();
  }
  void Write(int32_t id, std::string chunk) {
    const auto stream = Find(id);
    if (stream == nullptr) return;
    if (!chunk.empty()) stream->chunks.push_back(std::move(chunk));
    nghttp2_session_resume_data(session_, id);
    Flush();
  }
  void End(int32_t id) {
    if (const auto stream = Find(id)) stream->ended = true;
    Write(id, "");
  }
  void Reset(int32_t id) {
    if (Find(id) == nullptr) return;
    streams_.erase(id);
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_INTERNAL_ERROR);
    Flush();
  }
  std::shared_ptr<TestStream> Find(int32_t id) const {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : found->second;
  }

 private:
  class Writer;

  static void Disconnect(TestStream& stream) {
    if (auto callback = std::exchange(stream.on_disconnect, nullptr)) callback();
  }

  void MakeSession() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnStreamClose);
    nghttp2_session_server_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, server_->max_streams}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 1);
  }

  static Session& From(void* user_data) { return *static_cast<Session*>(user_data); }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    auto& stream = From(user_data).streams_[frame->hd.stream_id];
    if (stream == nullptr) stream = std::make_shared<TestStream>();
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":method") {
      stream->request.method = std::move(text);
    } else if (key == ":path") {
      stream->request.target = std::move(text);
    } else {
      stream->request.headers.Add(key, std::move(text));
    }
    return 0;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user_data) {
    if (const auto stream = From(user_data).Find(id)) {
      stream->request.body.append(reinterpret_cast<const char*>(data), size);
    }
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    Session& self = From(user_data);
    if (frame->hd.type == NGHTTP2_PING) ++self.server_->pings;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    const int32_t id = frame->hd.stream_id;
    if (self.server_->refusals > 0) {
      --self.server_->refusals;
      return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    }
    self.Handle(id);
    return 0;
  }

  void Handle(int32_t id);

  static int OnStreamClose(nghttp2_session*, int32_t id, uint32_t, void* user_data) {
    Session& self = From(user_data);
    const auto stream = self.Find(id);
    if (stream == nullptr) return 0;
    self.streams_.erase(id);
    if (!stream->ended) Disconnect(*stream);
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session*, int32_t id, uint8_t* buffer, size_t size,
                          uint32_t* flags, nghttp2_data_source*, void* user_data) {
    const auto stream = From(user_data).Find(id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    size_t count = 0;
    if (!stream->chunks.empty()) {
      const std::string& chunk = stream->chunks.front();
      count = std::min(size, chunk.size() - stream->sent);
      std::memcpy(buffer, chunk.data() + stream->sent, count);
      stream->sent += count;
      if (stream->sent == chunk.size()) {
        stream->chunks.pop_front();
        stream->sent = 0;
      }
    }
    if (stream->ended && stream->chunks.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (count == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(count);
  }

  void Read() {
    stream_.async_read_some(
        asio::buffer(input_), [self = shared_from_this()](const error_code& error, size_t count) {
          if (error) return self->Close();
          if (self->server_->dead) return;
          ++self->server_->reads;
          self->receiving_ = true;
          const ssize_t result = nghttp2_session_mem_recv(
              self->session_, reinterpret_cast<const uint8_t*>(self->input_.data()), count);
          self->receiving_ = false;
          if (result < 0) return self->Close();
          self->Flush();
          if (!self->closed_) self->Read();
        });
  }

  void Flush() {
    if (receiving_ || writing_ || closed_) return;
    output_.clear();
    const uint8_t* data = nullptr;
    for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_, &data)) > 0;) {
      output_.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
      if (output_.size() > (1 << 20)) break;
    }
    if (output_.empty()) return;
    writing_ = true;
    asio::async_write(stream_, asio::buffer(output_),
                      [self = shared_from_this()](const error_code& error, size_t) {
                        self->writing_ = false;
                        error ? self->Close() : self->Flush();
                      });
  }

  std::shared_ptr<Impl> server_;
  ssl::stream<tcp::socket> stream_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, std::shared_ptr<TestStream>> streams_;
  std::array<char, 16 << 10> input_;
  std::string output_;
  bool receiving_ = false, writing_ = false, closed_ = false;
};

class Http2TestServer::Session::Writer final : public ResponseWriter {
 public:
  Writer(std::shared_ptr<Session> session, int32_t id) : session_(std::move(session)), id_(id) {}
  ~Writer() override {
    if (!ended_) session_->Reset(id_);
  }

  void Finish(HttpResponse response) override {
    StartStream({response.status, response.headers, ""});
    session_->Write(id_, std::move(response.body));
    End();
  }
  void StartStream(HttpResponse head) override { session_->Answer(id_, head); }
  void Write(std::shared_ptr<const std::string> chunk) override { session_->Write(id_, *chunk); }
  void End() override {
    ended_ = true;
    session_->End(id_);
  }
  size_t pending_chunks() const override {
    const auto stream = session_->Find(id_);
    return stream == nullptr ? 0 : stream->chunks.size();
  }
  void OnDisconnect(absl::AnyInvocable<void()> callback) override {
    if (const auto stream = session_->Find(id_)) stream->on_disconnect = std::move(callback);
  }

 private:
  std::shared_ptr<Session> session_;
  const int32_t id_;
  bool ended_ = false;
};

void Http2TestServer::Session::Handle(int32_t id) {
  const auto stream = Find(id);
  if (stream == nullptr) return;
  server_->handler.Handle(std::move(stream->request),
                          std::make_shared<Writer>(shared_from_this(), id));
}

void Http2TestServer::Impl::Accept() {
  acceptor.async_accept([self = shared_from_this()](const error_code& error, tcp::socket socket) {
    if (error) return;
    ++self->accepted;
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto session = std::make_shared<Session>(self, std::move(socket));
    self->sessions.insert(session);
    session->Start();
    self->Accept();
  });
}

Http2TestServer::Http2TestServer(AsioLoop& loop, HttpHandler& handler, const PemPair& identity,
                                 uint32_t max_streams)
    : impl_(std::make_shared<Impl>(loop, handler, identity, max_streams)) {
  impl_->Accept();
}
Http2TestServer::~Http2TestServer() {
  error_code ignored;
  impl_->acceptor.close(ignored);
  CloseConnections();
}

std::string Http2TestServer::port() const {
  return std::to_string(impl_->acceptor.local_endpoint().port());
}
size_t Http2TestServer::accepted() const { return impl_->accepted; }
size_t Http2TestServer::open() const { return impl_->sessions.size(); }
size_t Http2TestServer::pings() const { return impl_->pings; }
size_t Http2TestServer::reads() const { return impl_->reads; }
void Http2TestServer::CloseConnections() {
  const auto sessions = impl_->sessions;
  for (const auto& session : sessions) session->Close();
}
void Http2TestServer::PlayDead() { impl_->dead = true; }
void Http2TestServer::RefuseRequests(int count) { impl_->refusals = count; }
void Http2TestServer::GoAway(int handled) {
  const auto sessions = impl_->sessions;
  for (const auto& session : sessions) session->GoAway(handled);
}

}  // namespace koord::kube
