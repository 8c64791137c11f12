#include "kube/transport/fault_transport.h"

#include <deque>
#include <utility>
#include <variant>

#include "kube/api_error.h"

namespace koord::kube {
namespace {

HttpResponse ErrorAnswer(int code, std::string reason, std::string message) {
  ApiError error;
  error.code = code;
  error.reason = std::move(reason);
  error.message = std::move(message);
  HttpResponse response;
  response.status = code;
  response.headers.Set("Content-Type", "application/json");
  response.body = Serialize(error.ToJson());
  return response;
}

bool CanConflict(const HttpRequest& request) {
  return request.method == "PUT" || request.method == "PATCH" || request.method == "DELETE";
}

bool CanExpire(const HttpRequest& request) {
  const std::string& target = request.target;
  const bool names_version = target.find("resourceVersion=") != std::string::npos &&
                             target.find("resourceVersion=0") == std::string::npos;
  return request.method == "GET" &&
         (names_version || target.find("continue=") != std::string::npos);
}

Status ConnectionReset() { return Unavailable("connection reset by peer (injected)"); }

}  // namespace

// A request whose caller still waits.
class FaultTransport::PendingCall final : public Call {
 public:
  PendingCall(EventLoop& loop, Duration timeout, Done done) : done_(std::move(done)), timer_(loop) {
    if (timeout <= Duration::zero()) return;
    timer_.Set(timeout, [this] { Finish(absl::DeadlineExceededError("the request timed out")); });
  }

  void Cancel() override {
    timer_.Cancel();
    done_ = nullptr;
  }
  void Finish(StatusOr<HttpResponse> answer) {
    timer_.Cancel();
    if (Done done = std::exchange(done_, nullptr)) done(std::move(answer));
  }

 private:
  Done done_;  // null once called or cancelled
  Timer timer_;
};

// A stream whose pieces may be held back; later ones then queue up behind.
class FaultTransport::Watch final : public std::enable_shared_from_this<Watch> {
 public:
  using Piece = std::variant<HttpResponse, std::string, Status>;

  Watch(FaultTransport& owner, StreamEvents events)
      : owner_(owner), events_(std::move(events)), timer_(owner.loop_) {}

  void Open(HttpRequest request) {
    if (closed_) return;
    StreamEvents events;
    events.head = [this](HttpResponse head) { Push(std::move(head), owner_.RollDelay()); };
    events.data = [this](std::string_view data) { OnData(data); };
    events.end = [this](Status status) { Push(std::move(status), owner_.RollDelay()); };
    inner_ = owner_.inner_->Open(std::move(request), std::move(events));
  }

  void Push(Piece piece, Duration delay) {
    const SteadyTime now = owner_.loop_.clock().Steady();
    free_at_ = std::max(free_at_, now + delay);
    pieces_.emplace_back(free_at_, std::move(piece));
    if (!timer_.pending()) DeliverDue();
  }

  void Break() {
    const auto self = shared_from_this();
    if (closed_) return;
    pieces_.clear();
    timer_.Cancel();
    Deliver(ConnectionReset());
  }

  void Close() {
    closed_ = true;
    timer_.Cancel();
    inner_ = nullptr;
  }

 private:
  void OnData(std::string_view data) {
    if (!owner_.random_.Chance(owner_.faults_.dropped_watch)) {
      return Push(std::string(data), owner_.RollDelay());
    }
    const size_t cut = owner_.random_.Below(data.size() + 1);
    const auto self = shared_from_this();
    Push(std::string(data.substr(0, cut)), Duration::zero());
    if (!closed_) Push(ConnectionReset(), Duration::zero());
  }

  void DeliverDue() {
    const auto self = shared_from_this();
    while (!closed_ && !pieces_.empty()) {
      const Duration wait = pieces_.front().first - owner_.loop_.clock().Steady();
      if (wait > Duration::zero()) {
        timer_.Set(wait, [this] { DeliverDue(); });
        return;
      }
      Piece piece = std::move(pieces_.front().second);
      pieces_.pop_front();
      Deliver(std::move(piece));
    }
  }

  void Deliver(Piece piece) {
    if (auto* head = std::get_if<HttpResponse>(&piece)) {
      events_.head(std::move(*head));
    } else if (auto* data = std::get_if<std::string>(&piece)) {
      if (!data->empty()) events_.data(*data);
    } else {
      Close();
      events_.end(std::get<Status>(piece));
    }
  }

  FaultTransport& owner_;
  StreamEvents events_;
  std::deque<std::pair<SteadyTime, Piece>> pieces_;
  SteadyTime free_at_{0};
  bool closed_ = false;
  std::unique_ptr<Stream> inner_;
  Timer timer_;
};

class FaultTransport::WatchHandle final : public Stream {
 public:
  explicit WatchHandle(std::shared_ptr<Watch> watch) : watch_(std::move(watch)) {}
  ~WatchHandle() override { watch_->Close(); }

 private:
  std::shared_ptr<Watch> watch_;
};

FaultTransport::FaultTransport(EventLoop& loop, std::shared_ptr<Transport> inner, uint64_t seed,
                               Faults faults)
    : loop_(loop), inner_(std::move(inner)), random_(seed), faults_(faults) {}

FaultTransport::~FaultTransport() {
  for (const auto& weak : watches_) {
    if (const auto watch = weak.lock()) watch->Close();
  }
}

void FaultTransport::DropWatches() {
  for (const auto& weak : std::exchange(watches_, {})) {
    if (const auto watch = weak.lock()) watch->Break();
  }
}

Duration FaultTransport::RollDelay() {
  if (!random_.Chance(faults_.delay)) return Duration::zero();
  return std::chrono::duration_cast<Duration>(faults_.max_delay * random_.Fraction());
}

std::optional<HttpResponse> FaultTransport::RollAnswer(const HttpRequest& request) {
  if (random_.Chance(faults_.too_many_requests)) {
    HttpResponse busy = ErrorAnswer(429, "TooManyRequests", "too many requests (injected)");
    busy.headers.Set("Retry-After", std::to_string(faults_.retry_after_seconds));
    return busy;
  }
  if (random_.Chance(faults_.internal_error)) {
    return ErrorAnswer(500, "InternalError", "Internal error occurred: injected");
  }
  if (CanConflict(request) && random_.Chance(faults_.conflict)) {
    return ErrorAnswer(409, "Conflict",
                       "Operation cannot be fulfilled: the object has been modified; please apply "
                       "your changes to the latest version and try again (injected)");
  }
  if (CanExpire(request) && random_.Chance(faults_.expired)) {
    return ErrorAnswer(410, "Expired", "too old resource version (injected)");
  }
  return {};
}

void FaultTransport::After(Duration delay, Task task) {
  if (delay <= Duration::zero()) return task();
  loop_.Schedule(delay, scope_.Wrap(std::move(task)));
}

std::shared_ptr<Transport::Call> FaultTransport::Send(HttpRequest request, Duration timeout,
                                                      Done done) {
  auto call = std::make_shared<PendingCall>(loop_, timeout, std::move(done));
  if (random_.Chance(faults_.refused)) {
    loop_.Post([call] { call->Finish(NotSentError("connection refused (injected)")); });
    return call;
  }
  if (auto answer = RollAnswer(request)) {
    loop_.Schedule(RollDelay(), [call, answer = std::move(*answer)]() mutable {
      call->Finish(std::move(answer));
    });
    return call;
  }
  After(RollDelay(),
        [this, call, timeout, request = std::move(request)] { Deliver(request, timeout, call); });
  return call;
}

void FaultTransport::Deliver(const HttpRequest& request, Duration timeout,
                             std::shared_ptr<PendingCall> call) {
  const bool lost = random_.Chance(faults_.lost_answer);
  const bool twice = random_.Chance(faults_.duplicate);
  const bool hear_second = twice && random_.Chance(0.5);
  Done first = scope_.Wrap([this, call, lost](StatusOr<HttpResponse> answer) {
    After(RollDelay(), [call, lost, answer = std::move(answer)]() mutable {
      if (lost) answer = ConnectionReset();
      call->Finish(std::move(answer));
    });
  });
  if (!twice) {
    inner_->Send(request, timeout, std::move(first));
    return;
  }
  Done second = [](const StatusOr<HttpResponse>&) {};  // its answer is not heard
  if (hear_second) std::swap(first, second);
  inner_->Send(request, timeout, std::move(first));
  inner_->Send(request, timeout, std::move(second));
}

std::unique_ptr<Transport::Stream> FaultTransport::Open(HttpRequest request, StreamEvents events) {
  auto watch = std::make_shared<Watch>(*this, std::move(events));
  std::erase_if(watches_, [](const auto& weak) { return weak.expired(); });
  watches_.push_back(watch);
  const auto later = [&](auto step) {
    loop_.Schedule(RollDelay(), [weak = std::weak_ptr(watch), step = std::move(step)]() mutable {
      if (const auto alive = weak.lock()) step(*alive);
    });
  };
  if (random_.Chance(faults_.refused)) {
    later([](Watch& w) { w.Push(NotSentError("connection refused (injected)"), {}); });
  } else if (auto answer = RollAnswer(request)) {
    // Servers that notice an expired version late send it as an event.
    if (answer->status == 410 && random_.Chance(0.5)) {
      answer->body = R"({"type":"ERROR","object":)" + answer->body + "}\n";
      answer->status = 200;
    }
    later([answer = std::move(*answer)](Watch& w) mutable {
      if (answer.status == 200) {
        std::string event = std::exchange(answer.body, {});
        w.Push(std::move(answer), {});
        w.Push(std::move(event), {});
      } else {
        w.Push(std::move(answer), {});
      }
      w.Push(absl::OkStatus(), {});
    });
  } else {
    later([request = std::move(request)](Watch& w) mutable { w.Open(std::move(request)); });
  }
  return std::make_unique<WatchHandle>(std::move(watch));
}

}  // namespace koord::kube
