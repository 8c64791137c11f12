#include <absl/container/flat_hash_map.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/strings.h"
#include "kube/transport/guarded.h"
#include "kube/transport/http_connection.h"
#include "kube/transport/open_socket.h"
#include "kube/transport/transport.h"

namespace koord::kube {
namespace {

using boost::system::error_code;

// Whoever gets data takes it at once, so the windows only have to cover what is on its way: a long
// list must not hold up the other answers.
constexpr int32_t kStreamWindow = 4 << 20;
constexpr int32_t kConnectionWindow = 16 << 20;
constexpr size_t kReadBuffer = 64 << 10;
constexpr int kReadsPerTurn = 16;  // then others get their turn
constexpr size_t kWriteBuffer = 64 << 10;

struct SessionDeleter {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
};

nghttp2_nv MakeField(std::string_view name, std::string_view value) {
  // nghttp2 copies both, and changes neither.
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

// The fields of a request as HTTP/2 wants them, and the text that they point to.
class RequestFields {
 public:
  explicit RequestFields(const HttpRequest& request) {
    fields_.push_back(MakeField(":method", request.method));
    fields_.push_back(MakeField(":scheme", "https"));
    fields_.push_back(MakeField(":authority", request.headers.Get("Host")));
    fields_.push_back(MakeField(":path", request.target));
    names_.reserve(static_cast<size_t>(request.headers.end() - request.headers.begin()));
    for (const auto& [name, value] : request.headers) {
      const std::string& lower = names_.emplace_back(ToLower(name));
      if (lower != "host" && lower != "connection") fields_.push_back(MakeField(lower, value));
    }
    if (request.body.empty()) return;
    size_ = std::to_string(request.body.size());
    fields_.push_back(MakeField("content-length", size_));
  }

  const std::vector<nghttp2_nv>& fields() const { return fields_; }

 private:
  std::vector<nghttp2_nv> fields_;
  std::vector<std::string> names_;
  std::string size_;
};

std::string_view AsText(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// One request and what has come of its answer.
struct Http2Exchange {
  HttpConnection::Events events;
  uint64_t body_limit = 0;
  std::string body;  // empty once it is sent
  size_t body_sent = 0;
  bool sent = false;  // or about to be; at least its head
  HttpResponse head;
  bool head_done = false;
  uint64_t received = 0;
  bool complete = false;
};

class Http2Impl final : public Guarded<Http2Impl> {
 public:
  using ExchangeId = HttpConnection::ExchangeId;

  Http2Impl(AsioLoop& loop, OpenSocket open, Duration dead_peer)
      : loop_(loop), open_(std::move(open)), dead_peer_(dead_peer), quiet_timer_(loop) {}

  void Start() {
    MakeSession();
    ScheduleFlush();
    WaitReadable();
    last_read_ = loop_.clock().Steady();
    quiet_timer_.Set(quiet_limit(), [this] { OnQuiet(); });
  }

  ExchangeId Begin(HttpRequest request, uint64_t body_limit, HttpConnection::Events events) {
    const RequestFields fields(request);
    nghttp2_data_provider body{};
    body.read_callback = ReadBody;
    ExchangeId id = nghttp2_submit_request(session_.get(), nullptr, fields.fields().data(),
                                           fields.fields().size(),
                                           request.body.empty() ? nullptr : &body, nullptr);
    if (id < 0) id = Refuse(id);
    auto exchange = std::make_shared<Http2Exchange>();
    exchange->events = std::move(events);
    exchange->body_limit = body_limit;
    exchange->body = std::move(request.body);
    exchanges_.emplace(id, std::move(exchange));
    ScheduleFlush();
    return id;
  }

  void Cancel(ExchangeId id) {
    if (exchanges_.erase(id) == 0 || id < 0 || closed_) return;
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    ScheduleFlush();
  }

  void Close() {
    CloseSocket();
    exchanges_.clear();
  }

  bool usable() const {
    return !closed_ && nghttp2_session_check_request_allowed(session_.get()) != 0;
  }
  bool has_room() const {
    return usable() &&
           exchanges_.size() < nghttp2_session_get_remote_settings(
                                   session_.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  }
  bool LooksAlive() {
    if (!closed_ && !receiving_ && !sending_) Read();
    return usable();
  }

 private:
  // ---- nghttp2's callbacks, all from within Read or Flush ----

  static Http2Impl& From(void* user_data) { return *static_cast<Http2Impl*>(user_data); }
  // Nothing more may be called once a callback of ours has closed the connection.
  int Verdict() const { return closed_ ? NGHTTP2_ERR_CALLBACK_FAILURE : 0; }

  void MakeSession() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnStreamClose);
    nghttp2_session_callbacks_set_before_frame_send_callback(callbacks, BeforeFrameSent);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, OnFrameNotSent);
    nghttp2_session* session = nullptr;
    nghttp2_session_client_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    session_.reset(session);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
    };
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  }

  std::shared_ptr<Http2Exchange> Find(ExchangeId id) const {
    const auto found = exchanges_.find(id);
    return found == exchanges_.end() ? nullptr : found->second;
  }

  static ssize_t ReadBody(nghttp2_session*, int32_t id, uint8_t* buffer, size_t size,
                          uint32_t* flags, nghttp2_data_source*, void* user_data) {
    const auto exchange = From(user_data).Find(id);
    if (exchange == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const size_t count = std::min(size, exchange->body.size() - exchange->body_sent);
    std::memcpy(buffer, exchange->body.data() + exchange->body_sent, count);
    exchange->body_sent += count;
    if (exchange->body_sent == exchange->body.size()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      exchange->body = {};
    }
    return static_cast<ssize_t>(count);
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    const auto exchange = From(user_data).Find(frame->hd.stream_id);
    if (exchange == nullptr || exchange->head_done) return 0;  // trailers say nothing to us
    const std::string_view key = AsText(name, name_size);
    const std::string_view text = AsText(value, value_size);
    if (key == ":status") {
      exchange->head = {};  // an interim answer may have come before
      std::from_chars(text.data(), text.data() + text.size(), exchange->head.status);
    } else {
      exchange->head.headers.Add(key, std::string(text));
    }
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    Http2Impl& self = From(user_data);
    const uint8_t type = frame->hd.type;
    if (type != NGHTTP2_HEADERS && type != NGHTTP2_DATA) return 0;
    const auto exchange = self.Find(frame->hd.stream_id);
    if (exchange == nullptr) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) exchange->complete = true;
    if (exchange->complete && !exchange->body.empty()) {  // it does not want to hear the rest
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    if (type == NGHTTP2_HEADERS && !exchange->head_done && exchange->head.status >= 200) {
      exchange->head_done = true;
      exchange->events.head(std::move(exchange->head));
    }
    return self.Verdict();
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user_data) {
    Http2Impl& self = From(user_data);
    const auto exchange = self.Find(id);
    if (exchange == nullptr) return 0;
    exchange->received += size;
    if (exchange->body_limit != 0 && exchange->received > exchange->body_limit) {
      self.Cancel(id);
      exchange->events.end(Internal("the answer is larger than this client accepts"));
    } else {
      exchange->events.data(AsText(data, size));
    }
    return self.Verdict();
  }

  static int OnStreamClose(nghttp2_session*, int32_t id, uint32_t error, void* user_data) {
    Http2Impl& self = From(user_data);
    self.End(id, [error](const Http2Exchange& exchange) {
      if (exchange.complete) return absl::OkStatus();
      if (error == NGHTTP2_REFUSED_STREAM || !exchange.sent) {
        return NotSentError("the server takes no more requests on this connection");
      }
      return Unavailable("the server broke off the answer: {}", nghttp2_http2_strerror(error));
    });
    return self.Verdict();
  }

  static int BeforeFrameSent(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    if (const auto exchange = From(user_data).Find(frame->hd.stream_id)) exchange->sent = true;
    return 0;
  }

  static int OnFrameNotSent(nghttp2_session*, const nghttp2_frame* frame, int error,
                            void* user_data) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    Http2Impl& self = From(user_data);
    self.End(frame->hd.stream_id, [error](const Http2Exchange&) {
      return NotSentError(fmt::format("cannot send the request: {}", nghttp2_strerror(error)));
    });
    return self.Verdict();
  }

  template <class MakeStatus>
  void End(ExchangeId id, MakeStatus make_status) {
    const auto found = exchanges_.find(id);
    if (found == exchanges_.end()) return;
    const auto exchange = std::move(found->second);
    exchanges_.erase(found);
    exchange->events.end(make_status(*exchange));
  }

  // ---- the socket ----

  void WaitReadable() {
    open_.socket.async_wait(boost::asio::ip::tcp::socket::wait_read,
                            Guard([this](const error_code& error) {
                              if (error) return Fail(error.message());
                              OnReadable();
                            }));
  }

  void OnReadable() {
    const bool drained = Read();
    if (closed_) return;
    if (drained) return WaitReadable();
    loop_.Post(Guard([this] { OnReadable(); }));
  }

  // Takes what has come, and answers. False if there may be more.
  bool Read() {
    const auto self = shared_from_this();
    receiving_ = true;
    bool more = true;
    for (int i = 0; i < kReadsPerTurn && more && !closed_; ++i) more = ReadOnce();
    receiving_ = false;
    if (!closed_) Flush();
    return !more;
  }

  // Fills the buffer as far as it goes, for most records are small, and handles what is in it.
  // False if nothing more is to be had now.
  bool ReadOnce() {
    if (buffer_.empty()) buffer_.resize(kReadBuffer);
    size_t filled = 0;
    TlsSocket::Result result;
    while (filled < buffer_.size()) {
      result = open_.tls->Read(std::span(buffer_).subspan(filled));
      if (result.count == 0) break;
      filled += result.count;
    }
    if (filled > 0 && !Receive(filled)) return false;
    if (result.error) Fail(result.error == boost::asio::error::eof ? "" : result.error.message());
    return result.count > 0;
  }

  bool Receive(size_t size) {
    last_read_ = loop_.clock().Steady();
    const ssize_t result = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const uint8_t*>(buffer_.data()), size);
    if (closed_) return false;
    if (result >= 0) return true;
    Fail(fmt::format("the server does not speak HTTP/2: {}",
                     nghttp2_strerror(static_cast<int>(result))));
    return false;
  }

  // Requests that are made in one turn of the loop leave together.
  void ScheduleFlush() {
    if (receiving_ || blocked_ || closed_ || std::exchange(flush_scheduled_, true)) return;
    loop_.Post(Guard([this] {
      flush_scheduled_ = false;
      Flush();
    }));
  }

  void Flush() {
    while (!blocked_ && !closed_) {
      if (output_.empty() && !Collect()) return FinishIfOver();
      const TlsSocket::Result result =
          open_.tls->Write(std::string_view(output_).substr(output_sent_));
      if (result.error) return Fail(result.error.message());
      if (result.wait != TlsSocket::Wait::kNone) return WaitToWrite(result.wait);
      output_sent_ += result.count;
      if (output_sent_ < output_.size()) continue;
      output_.clear();
      output_sent_ = 0;
    }
  }

  // Puts frames that wait to be sent into the output.
  bool Collect() {
    const auto self = shared_from_this();
    sending_ = true;
    while (output_.size() < kWriteBuffer) {
      const uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
      if (size < 0 && !closed_) Fail(nghttp2_strerror(static_cast<int>(size)));
      if (size <= 0) break;
      output_ += AsText(data, static_cast<size_t>(size));
    }
    sending_ = false;
    return !closed_ && !output_.empty();
  }

  void WaitToWrite(TlsSocket::Wait wait) {
    blocked_ = true;
    open_.socket.async_wait(WaitType(wait), Guard([this](const error_code& error) {
                              blocked_ = false;
                              if (error) return Fail(error.message());
                              Flush();
                            }));
  }

  // nghttp2 wants neither to read nor to write after a GOAWAY, or when the peer breaks the rules.
  void FinishIfOver() {
    if (closed_ || nghttp2_session_want_read(session_.get()) != 0) return;
    Fail(exchanges_.empty() ? "" : "the server does not keep to HTTP/2");
  }

  // Without a reason: the peer has closed.
  void Fail(std::string_view reason) {
    const auto self = shared_from_this();
    const Status lost =
        reason.empty()
            ? Unavailable("the server closed the connection before the answer was complete")
            : Unavailable("connection lost: {}", reason);
    CloseSocket();
    while (!exchanges_.empty()) {  // each may cancel others
      End(exchanges_.begin()->first, [&](const Http2Exchange& exchange) {
        return exchange.sent ? lost : NotSentError(Message(lost));
      });
    }
  }

  void CloseSocket() {
    closed_ = true;
    quiet_timer_.Cancel();
    error_code ignored;
    open_.socket.close(ignored);
  }

  // ---- a peer that is silent ----

  Duration quiet_limit() const { return dead_peer_ * 2 / 3; }

  void OnQuiet() {
    const auto self = shared_from_this();
    Read();  // if it was us who had no time to listen
    if (closed_) return;
    const Duration quiet = loop_.clock().Steady() - last_read_;
    if (quiet < quiet_limit()) {
      asked_ = false;
      return quiet_timer_.Set(quiet_limit() - quiet, [this] { OnQuiet(); });
    }
    if (std::exchange(asked_, true)) return Fail("the server has fallen silent");
    nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, nullptr);
    quiet_timer_.Set(dead_peer_ - quiet_limit(), [this] { OnQuiet(); });
    Flush();
  }

  // A request that nghttp2 does not take ends like any other: later, and with an error.
  ExchangeId Refuse(int error) {
    const ExchangeId id = --last_refused_;
    loop_.Post(Guard([this, id, error] {
      End(id, [error](const Http2Exchange&) {
        return NotSentError(fmt::format("cannot send the request: {}", nghttp2_strerror(error)));
      });
    }));
    return id;
  }

  AsioLoop& loop_;
  OpenSocket open_;
  const Duration dead_peer_;
  std::unique_ptr<nghttp2_session, SessionDeleter> session_;
  absl::flat_hash_map<ExchangeId, std::shared_ptr<Http2Exchange>> exchanges_;
  std::vector<char> buffer_;
  std::string output_;
  size_t output_sent_ = 0;
  bool receiving_ = false, sending_ = false;  // nghttp2 must not be called from its callbacks
  bool flush_scheduled_ = false;
  bool blocked_ = false;  // until the socket takes more
  ExchangeId last_refused_ = 0;
  SteadyTime last_read_{};
  bool asked_ = false;  // for a sign of life
  Timer quiet_timer_;
};

class Http2Connection final : public HttpConnection {
 public:
  Http2Connection(AsioLoop& loop, OpenSocket open, Duration dead_peer)
      : impl_(std::make_shared<Http2Impl>(loop, std::move(open), dead_peer)) {
    impl_->Start();
  }
  ~Http2Connection() override { impl_->Close(); }

  ExchangeId Begin(HttpRequest request, uint64_t body_limit, Events events) override {
    return impl_->Begin(std::move(request), body_limit, std::move(events));
  }
  void Cancel(ExchangeId id) override { impl_->Cancel(id); }
  bool multiplexed() const override { return true; }
  bool has_room() const override { return impl_->has_room(); }
  bool usable() const override { return impl_->usable(); }
  bool LooksAlive() override { return impl_->LooksAlive(); }

 private:
  std::shared_ptr<Http2Impl> impl_;
};

}  // namespace

std::unique_ptr<HttpConnection> MakeHttp2Connection(AsioLoop& loop, OpenSocket socket,
                                                    Duration dead_peer) {
  return std::make_unique<Http2Connection>(loop, std::move(socket), dead_peer);
}

}  // namespace koord::kube
