#include "kube/transport/in_process_transport.h"

#include <deque>
#include <utility>
#include <variant>

namespace koord::kube {
namespace {

// The client's side of an exchange.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void Head(HttpResponse head) = 0;
  virtual void Data(const std::string& chunk) = 0;
  virtual void End(Status status) = 0;
};

// One request under way: what the server has written and the client has not taken yet. The server
// holds it through a Writer, the client through a Call or Stream; either may let go first.
class Exchange final : public std::enable_shared_from_this<Exchange> {
 public:
  explicit Exchange(EventLoop& loop) : loop_(loop) {}

  void Connect(std::shared_ptr<Receiver> receiver) { receiver_ = std::move(receiver); }

  void PushHead(HttpResponse head) { Push(std::move(head)); }
  void PushChunk(std::shared_ptr<const std::string> chunk) {
    ++pending_chunks_;
    Push(std::move(chunk));
  }
  void PushEnd(Status status) {
    if (std::exchange(ended_, true)) return;
    on_disconnect_ = nullptr;
    Push(std::move(status));
  }

  void OnDisconnect(Task callback) {
    if (ended_) return;
    on_disconnect_ = std::move(callback);
    if (receiver_ == nullptr) TellServerOfDisconnect();
  }

  // The client has gone: nothing reaches it any more, and the server is told.
  void Abandon() {
    if (receiver_ == nullptr) return;
    receiver_ = nullptr;
    pieces_.clear();
    pending_chunks_ = 0;
    TellServerOfDisconnect();
  }

  bool ended() const { return ended_; }
  size_t pending_chunks() const { return pending_chunks_; }

 private:
  using Piece = std::variant<HttpResponse, std::shared_ptr<const std::string>, Status>;

  void Push(Piece piece) {
    if (receiver_ == nullptr) return;
    pieces_.push_back(std::move(piece));
    if (std::exchange(delivery_posted_, true)) return;
    loop_.Post([self = shared_from_this()] { self->Deliver(); });
  }

  void Deliver() {
    delivery_posted_ = false;
    const std::shared_ptr<Receiver> receiver = receiver_;
    while (receiver_ != nullptr && !pieces_.empty()) {
      Piece piece = std::move(pieces_.front());
      pieces_.pop_front();
      if (auto* head = std::get_if<HttpResponse>(&piece)) {
        receiver->Head(std::move(*head));
      } else if (auto* chunk = std::get_if<std::shared_ptr<const std::string>>(&piece)) {
        --pending_chunks_;
        receiver->Data(**chunk);
      } else {
        receiver_ = nullptr;
        receiver->End(std::get<Status>(piece));
      }
    }
  }

  void TellServerOfDisconnect() {
    if (ended_ || on_disconnect_ == nullptr) return;
    loop_.Post(std::exchange(on_disconnect_, nullptr));
  }

  EventLoop& loop_;
  std::shared_ptr<Receiver> receiver_;  // null once the client has gone or has everything
  std::deque<Piece> pieces_;
  size_t pending_chunks_ = 0;
  bool delivery_posted_ = false;
  bool ended_ = false;  // by the server
  Task on_disconnect_;
};

class Writer final : public ResponseWriter {
 public:
  explicit Writer(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~Writer() override { exchange_->PushEnd(Unavailable("the server closed the connection")); }

  void Finish(HttpResponse response) override {
    if (exchange_->ended()) return;
    std::string body = std::exchange(response.body, {});
    exchange_->PushHead(std::move(response));
    exchange_->PushChunk(std::make_shared<const std::string>(std::move(body)));
    exchange_->PushEnd(absl::OkStatus());
  }
  void StartStream(HttpResponse head) override {
    if (exchange_->ended()) return;
    head.body.clear();
    exchange_->PushHead(std::move(head));
  }
  void Write(std::shared_ptr<const std::string> chunk) override {
    if (!exchange_->ended()) exchange_->PushChunk(std::move(chunk));
  }
  void End() override { exchange_->PushEnd(absl::OkStatus()); }
  size_t pending_chunks() const override { return exchange_->pending_chunks(); }
  void OnDisconnect(absl::AnyInvocable<void()> callback) override {
    exchange_->OnDisconnect(std::move(callback));
  }

 private:
  std::shared_ptr<Exchange> exchange_;
};

// Collects a whole answer, up to a time-out.
class WholeAnswer final : public Receiver {
 public:
  WholeAnswer(EventLoop& loop, Exchange& exchange, Duration timeout, Transport::Done done)
      : done_(std::move(done)), timer_(loop) {
    if (timeout <= Duration::zero()) return;
    timer_.Set(timeout, [this, exchange = exchange.weak_from_this()] {
      // The exchange owns this object: the callback must survive it.
      Transport::Done done = std::move(done_);
      if (const auto alive = exchange.lock()) alive->Abandon();
      done(absl::DeadlineExceededError("the request timed out"));
    });
  }

  void Head(HttpResponse head) override { response_ = std::move(head); }
  void Data(const std::string& chunk) override { response_.body += chunk; }
  void End(Status status) override {
    timer_.Cancel();
    if (!status.ok()) return done_(std::move(status));
    done_(std::move(response_));
  }

 private:
  HttpResponse response_;
  Transport::Done done_;
  Timer timer_;
};

// Passes a 2xx answer on as it comes; collects any other.
class StreamedAnswer final : public Receiver {
 public:
  explicit StreamedAnswer(Transport::StreamEvents events) : events_(std::move(events)) {}

  void Head(HttpResponse head) override {
    if (head.status / 100 == 2) return events_.head(std::move(head));
    refusal_ = std::move(head);
  }
  void Data(const std::string& chunk) override {
    if (refusal_) {
      refusal_->body += chunk;
    } else if (!chunk.empty()) {
      events_.data(chunk);
    }
  }
  void End(Status status) override {
    auto end = std::move(events_.end);
    if (refusal_) events_.head(std::move(*refusal_));
    if (!closed_) end(std::move(status));
  }
  // The stream was closed; matters only between the two callbacks of End.
  void Close() { closed_ = true; }

 private:
  Transport::StreamEvents events_;
  std::optional<HttpResponse> refusal_;
  bool closed_ = false;
};

class InProcessCall final : public Transport::Call {
 public:
  explicit InProcessCall(std::weak_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  void Cancel() override {
    if (const auto exchange = exchange_.lock()) exchange->Abandon();
  }

 private:
  std::weak_ptr<Exchange> exchange_;
};

class InProcessStream final : public Transport::Stream {
 public:
  InProcessStream(std::shared_ptr<Exchange> exchange, std::shared_ptr<StreamedAnswer> answer)
      : exchange_(std::move(exchange)), answer_(std::move(answer)) {}
  ~InProcessStream() override {
    answer_->Close();
    exchange_->Abandon();
  }

 private:
  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<StreamedAnswer> answer_;
};

}  // namespace

UserInfo InProcessTransport::Admin() {
  return {.name = "system:admin",
          .uid = "",
          .groups = {"system:masters", "system:authenticated"},
          .extra = {}};
}

InProcessTransport::InProcessTransport(EventLoop& loop, HttpHandler& handler, UserInfo user)
    : loop_(loop), handler_(handler), user_(std::move(user)) {}

void InProcessTransport::Deliver(HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
  if (!request.user) request.user = user_;
  loop_.Post(
      scope_.Wrap([this, request = std::move(request), writer = std::move(writer)]() mutable {
        handler_.Handle(std::move(request), std::move(writer));
      }));
}

std::shared_ptr<Transport::Call> InProcessTransport::Send(HttpRequest request, Duration timeout,
                                                          Done done) {
  auto exchange = std::make_shared<Exchange>(loop_);
  exchange->Connect(std::make_shared<WholeAnswer>(loop_, *exchange, timeout, std::move(done)));
  Deliver(std::move(request), std::make_shared<Writer>(exchange));
  return std::make_shared<InProcessCall>(exchange);
}

std::unique_ptr<Transport::Stream> InProcessTransport::Open(HttpRequest request,
                                                            StreamEvents events) {
  auto exchange = std::make_shared<Exchange>(loop_);
  auto answer = std::make_shared<StreamedAnswer>(std::move(events));
  exchange->Connect(answer);
  Deliver(std::move(request), std::make_shared<Writer>(exchange));
  return std::make_unique<InProcessStream>(std::move(exchange), std::move(answer));
}

}  // namespace koord::kube
