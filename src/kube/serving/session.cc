#include "kube/serving/session.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/return_memory.h"
#include "base/strings.h"
#include "kube/serving/session_group.h"

namespace koord::kube {
namespace {

constexpr size_t kReadSize = 16 * 1024;
// Frames gather up to this much, a few TLS records, before they leave.
constexpr size_t kWriteSize = 64 * 1024;
// Bodies up to here leave together with their head.
constexpr size_t kCopyAtMost = 32 * 1024;
// Larger ones leave in pieces, so that a slow peer is seen to make progress.
constexpr size_t kBodyPiece = 1024 * 1024;
// The memory of still larger ones, such as lists of thousands of objects, is given back at once:
// small objects would settle in it, and the next one would need as much again.
constexpr size_t kReturnAtLeast = 4 * 1024 * 1024;
// Buffers that grew beyond this are not kept for the next request.
constexpr size_t kKeepBuffer = 64 * 1024;
constexpr Duration kLingerTime = 1s;

// What is judged by one Host and one Origin must not have two: whoever reads the other one would
// judge otherwise.
std::string HeaderProblem(const Headers& headers) {
  if (!headers.Has("Host")) return "the request has no Host header";
  for (const std::string_view name : {"Host", "Origin"}) {
    const auto same = [&](const auto& header) { return EqualsIgnoreCase(header.first, name); };
    if (std::count_if(headers.begin(), headers.end(), same) > 1) {
      return fmt::format("the request has more than one {} header", name);
    }
  }
  return {};
}

ApiError MakeError(int code, std::string_view reason, std::string message) {
  ApiError error;
  error.code = code;
  error.reason = reason;
  error.message = std::move(message);
  return error;
}

HttpResponse NoRoom() {
  ApiError error =
      MakeError(429, "TooManyRequests", "too many requests are being read, please try again later");
  error.retry_after_seconds = 1;
  return ErrorResponse(error);
}

}  // namespace

// The handler's side of one request. Outlives the session's interest in it, and the other way
// round.
class Session::Exchange final : public ResponseWriter {
 public:
  explicit Exchange(std::shared_ptr<Session> session)
      : loop_(session->group_->loop()), session_(std::move(session)) {
    session_->exchange_ = this;
  }
  ~Exchange() override {
    if (const auto session = Leave()) session->OnAbandoned();
  }

  void Finish(HttpResponse response) override {
    if (const auto session = Leave()) session->SendWhole(std::move(response));
  }
  void StartStream(HttpResponse head) override {
    if (session_ == nullptr || session_->StartStream(head)) return;
    const auto session = Leave();
    OnPeerGone();
    session->SendWhole(TooManyStreams());
  }
  void Write(std::shared_ptr<const std::string> chunk) override {
    if (session_ != nullptr) session_->QueueChunk(std::move(chunk));
  }
  void End() override {
    if (const auto session = Leave()) session->EndStream();
  }
  size_t pending_chunks() const override {
    return session_ == nullptr ? 0 : session_->pending_chunks();
  }
  void OnDisconnect(absl::AnyInvocable<void()> callback) override {
    on_disconnect_ = std::move(callback);
    if (peer_gone_) OnPeerGone();
  }

  // The session has ended first.
  void Disconnect() {
    Leave();
    OnPeerGone();
  }

 private:
  static HttpResponse TooManyStreams() {
    ApiError error =
        MakeError(429, "TooManyRequests", "too many watches are open, please try again later");
    error.retry_after_seconds = 1;
    return ErrorResponse(error);
  }

  std::shared_ptr<Session> Leave() {
    if (session_ != nullptr) session_->exchange_ = nullptr;
    return std::exchange(session_, nullptr);
  }
  // Never from inside a call of the handler.
  void OnPeerGone() {
    peer_gone_ = true;
    if (on_disconnect_) loop_.Post(std::exchange(on_disconnect_, nullptr));
  }

  EventLoop& loop_;
  std::shared_ptr<Session> session_;  // until the answer is complete, or the peer gone
  absl::AnyInvocable<void()> on_disconnect_;
  bool peer_gone_ = false;
};

Session::Session(std::shared_ptr<SessionGroup> group)
    : group_(std::move(group)),
      since_(group_->now()),
      deadline_(group_->now() + group_->options().handshake_timeout),
      parser_(group_->options().request) {}

Session::~Session() = default;

void Session::Begin(std::optional<UserInfo> user) {
  if (closed_) return;
  user_ = std::move(user);
  EnterPhase(Phase::kIdle);
  if (stopping_) return Close();
  ReadMore();
}

void Session::EnterPhase(Phase phase) {
  if (phase_ == phase) return;
  phase_ = phase;
  since_ = group_->now();
  const SessionOptions& options = group_->options();
  switch (phase) {
    case Phase::kOpening:
      break;
    case Phase::kIdle:
      deadline_ = since_ + options.idle_timeout;
      break;
    case Phase::kHeader:
      deadline_ = since_ + options.header_timeout;
      break;
    case Phase::kAdmission:
      deadline_ = since_ + options.admission_timeout;
      break;
    case Phase::kQueued:
      deadline_ = since_ + options.queue_timeout;
      break;
    case Phase::kBody:
      body_at_phase_start_ = parser_.body_size();
      deadline_ = since_ + options.body_timeout;
      break;
    case Phase::kAnswering:
      deadline_ = SteadyTime::max();
      break;
    case Phase::kClosing:
      deadline_ = since_ + kLingerTime;
      break;
  }
}

void Session::ReadMore() {
  if (reading_ || closed_) return;
  if (taken_ == filled_) taken_ = filled_ = 0;
  const size_t waiting = filled_ - taken_;
  // What a peer sends ahead of its turn stays in the kernel.
  const bool in_turn = phase_ == Phase::kHeader || phase_ == Phase::kBody;
  if (waiting > (in_turn ? group_->options().request.header_bytes : 0)) return;
  if (taken_ > 0 && filled_ + kReadSize > input_.size()) {
    std::copy(input_.begin() + static_cast<std::ptrdiff_t>(taken_),
              input_.begin() + static_cast<std::ptrdiff_t>(filled_), input_.begin());
    taken_ = 0;
    filled_ = waiting;
  }
  if (filled_ + kReadSize > input_.size()) input_.resize(filled_ + kReadSize);
  reading_ = true;
  StartRead(std::span(input_).subspan(filled_, kReadSize));
}

void Session::OnRead(size_t size) {
  reading_ = false;
  if (closed_) return;
  if (!discard_input_) {
    filled_ += size;
    Process();
  }
  ReadMore();
}

void Session::Process() {
  while (taken_ < filled_ && !closed_) {
    if (phase_ == Phase::kBody && RoomNeeded() > room_) TakeRoom();
    if (phase_ != Phase::kIdle && phase_ != Phase::kHeader && phase_ != Phase::kBody) return;
    std::string_view bytes(input_.data() + taken_, filled_ - taken_);
    const RequestParser::State state = parser_.Feed(bytes);
    taken_ = filled_ - bytes.size();
    switch (state) {
      case RequestParser::State::kNeedsMore:
        return AfterFeeding();
      case RequestParser::State::kHead:
        OnHead();
        break;
      case RequestParser::State::kFailed:
        return Refuse(ErrorResponse(parser_.error()));
      case RequestParser::State::kDone:
        Dispatch();
        break;
    }
  }
}

void Session::AfterFeeding() {
  if (!parser_.header_done()) EnterPhase(Phase::kHeader);
  if (filled_ - taken_ > group_->options().request.header_bytes) {
    Refuse(ErrorResponse(
        MakeError(431, "RequestHeaderFieldsTooLarge", "a line of the request is too long")));
  }
}

// What is not to be answered anyway is refused before its body is read.
void Session::OnHead() {
  EnterPhase(Phase::kAdmission);
  if (const auto objection = Objection(parser_.request())) {
    return Refuse(ErrorResponse(*objection));
  }
  if (group_->gate() == nullptr) return TakeRoom();
  parser_.request().user = user_;
  group_->gate()->Check(parser_.request(),
                        [weak = weak_from_this()](std::optional<HttpResponse> refusal) {
                          const auto self = weak.lock();
                          if (self != nullptr) self->OnAdmission(std::move(refusal));
                        });
}

void Session::OnAdmission(std::optional<HttpResponse> refusal) {
  if (closed_ || phase_ != Phase::kAdmission) return;
  if (refusal) return Refuse(*std::move(refusal));
  TakeRoom();
  Process();
  ReadMore();
}

// For the whole body if its length is known, so that a body that was begun can also be finished.
size_t Session::RoomNeeded() const {
  if (const auto length = parser_.body_length()) return *length;
  return std::min(parser_.body_size() + (filled_ - taken_), group_->options().request.body_bytes);
}

void Session::TakeRoom() {
  size_t wanted = RoomNeeded();
  if (!parser_.body_length()) {
    // In ever larger steps, as strings grow.
    wanted =
        std::min(std::max({wanted, 2 * room_, kReadSize}), group_->options().request.body_bytes);
  }
  if (!group_->TakeRoom(*this, wanted - room_)) {
    if (!waits_for_room()) group_->WaitForRoom(shared_from_this());
    return EnterPhase(Phase::kQueued);
  }
  room_ = wanted;
  EnterPhase(Phase::kBody);
  if (parser_.wants_continue() && !std::exchange(told_to_continue_, true)) {
    buffer_ += "HTTP/1.1 100 Continue\r\n\r\n";
    Flush();
  }
}

bool Session::ReadBodyIfRoom() {
  if (closed_ || !waits_for_room()) return true;
  TakeRoom();
  if (waits_for_room()) return false;
  Process();
  ReadMore();
  return true;
}

void Session::ReleaseRoom() {
  if (room_ > 0) group_->ReleaseRoom(*this, std::exchange(room_, 0));
}

bool Session::IsSlowBody(SteadyTime now) const {
  const SessionOptions& options = group_->options();
  if (phase_ != Phase::kBody || now - since_ < options.slow_body_grace) return false;
  const auto seconds = std::chrono::duration<double>(now - since_).count();
  const size_t arrived = parser_.body_size() - body_at_phase_start_;
  return static_cast<double>(arrived) < seconds * static_cast<double>(options.slow_body_rate);
}

std::optional<ApiError> Session::Objection(const HttpRequest& request) const {
  if (std::string problem = HeaderProblem(request.headers); !problem.empty()) {
    return MakeError(400, "BadRequest", std::move(problem));
  }
  if (std::string refusal = group_->hosts().Refusal(request.headers); !refusal.empty()) {
    return MakeError(403, "Forbidden", std::move(refusal));
  }
  if (!request.target.starts_with('/')) {
    return MakeError(400, "BadRequest", "the request target must be a path that starts with /");
  }
  return std::nullopt;
}

void Session::Dispatch() {
  EnterPhase(Phase::kAnswering);
  keep_alive_ = parser_.keep_alive() && parser_.chunks_allowed();
  chunked_ = parser_.chunks_allowed();
  streaming_ = answer_complete_ = told_to_continue_ = false;
  HttpRequest request = parser_.Take();
  without_body_ = request.method == "HEAD";
  request.user = user_;
  const auto exchange = std::make_shared<Exchange>(shared_from_this());
  if (const auto objection = Objection(request)) {
    return exchange->Finish(ErrorResponse(*objection));
  }
  group_->handler().Handle(std::move(request), exchange);
}

void Session::Refuse(HttpResponse response) {
  EnterPhase(Phase::kAnswering);
  keep_alive_ = false;
  without_body_ = streaming_ = answer_complete_ = false;
  discard_input_ = true;
  taken_ = filled_ = 0;
  std::string().swap(parser_.request().body);
  SendWhole(std::move(response));
}

void Session::SendWhole(HttpResponse response) {
  if (closed_) return;
  if (stopping_) keep_alive_ = false;
  if (streaming_) return OnAbandoned();  // a handler that starts over leaves the peer confused
  ReleaseRoom();
  HeadOptions head{.framing = Framing::kLength, .keep_alive = keep_alive_, .date = group_->date()};
  AppendHead(buffer_, response, head);
  if (!without_body_) {
    if (response.body.size() <= kCopyAtMost) {
      buffer_ += response.body;
    } else {
      body_ = std::move(response.body);
    }
  }
  answer_complete_ = true;
  Flush();
}

bool Session::StartStream(const HttpResponse& head) {
  if (streaming_) return true;
  if (!group_->AddStream()) return false;
  streaming_ = true;
  ReleaseRoom();
  if (!chunked_ || stopping_) keep_alive_ = false;
  AppendHead(buffer_, head,
             {.framing = chunked_ ? Framing::kChunked : Framing::kUntilClose,
              .keep_alive = keep_alive_,
              .date = group_->date()});
  group_->FlushSoon(shared_from_this());
  return true;
}

void Session::QueueChunk(std::shared_ptr<const std::string> chunk) {
  if (closed_ || !streaming_ || chunk->empty() || without_body_) return;
  queued_bytes_ += chunk->size();
  if (queue_.empty() && sending_ == Sending::kNothing) group_->FlushSoon(shared_from_this());
  queue_.push_back(std::move(chunk));
  if (queued_bytes_ > group_->options().slow_reader_bytes) {
    LOG_WARNING("Cut off a client that does not read its stream", {"chunks", queue_.size()},
                {"bytes", queued_bytes_});
    Close();
  }
}

void Session::EndStream() {
  if (closed_ || !streaming_) return;
  answer_complete_ = true;
  group_->FlushSoon(shared_from_this());
}

void Session::OnAbandoned() {
  if (closed_) return;
  // Half a stream must not look like a whole one.
  if (streaming_) return Close();
  SendWhole(ErrorResponse(
      MakeError(500, "InternalError", "Internal error occurred: the request was not answered")));
}

void Session::FillBuffer() {
  while (!queue_.empty() && buffer_.size() < kWriteSize) {
    const std::string& chunk = *queue_.front();
    if (chunked_) {
      AppendChunk(buffer_, chunk);
    } else {
      buffer_ += chunk;
    }
    queued_bytes_ -= chunk.size();
    queue_.pop_front();
    ++chunks_in_flight_;
  }
  if (streaming_ && answer_complete_ && queue_.empty()) {
    if (chunked_ && !without_body_) buffer_ += kLastChunk;
    StopStreaming();
  }
}

void Session::Flush() {
  if (closed_ || sending_ != Sending::kNothing) return;
  FillBuffer();
  if (!buffer_.empty()) {
    in_flight_.swap(buffer_);
    Send(Sending::kBuffer, in_flight_);
  } else if (!body_.empty()) {
    Send(Sending::kBody, std::string_view(body_).substr(body_sent_, kBodyPiece));
  } else if (answer_complete_ && phase_ == Phase::kAnswering) {
    OnAnswered();
  }
}

void Session::Send(Sending what, std::string_view bytes) {
  sending_ = what;
  write_start_ = group_->now();
  StartWrite(bytes);
}

void Session::OnWritten() {
  if (closed_) return;
  const Sending sent = std::exchange(sending_, Sending::kNothing);
  if (sent == Sending::kBody) {
    body_sent_ += std::min(kBodyPiece, body_.size() - body_sent_);
    if (body_sent_ == body_.size()) {
      body_ = std::string();
      if (body_sent_ >= kReturnAtLeast) ReturnFreeMemory();
      body_sent_ = 0;
    }
  } else {
    in_flight_.clear();
    if (in_flight_.capacity() > kKeepBuffer) in_flight_.shrink_to_fit();
    chunks_in_flight_ = 0;
  }
  Flush();
}

void Session::StopStreaming() {
  if (std::exchange(streaming_, false)) group_->RemoveStream();
}

void Session::OnAnswered() {
  answer_complete_ = false;
  was_of_use_ = true;
  if (!keep_alive_ || stopping_) return Linger();
  EnterPhase(Phase::kIdle);
  Process();
  ReadMore();
}

// Gives the peer the time to take the answer before the connection goes.
void Session::Linger() {
  EnterPhase(Phase::kClosing);
  taken_ = filled_ = 0;
  // To a peer that still sends, a closed connection would look like an error that hides the answer.
  if (!std::exchange(discard_input_, true)) StartShutdown();
  ReadMore();
}

void Session::OnGone() {
  reading_ = false;
  Close();
}

void Session::Stop() {
  stopping_ = true;
  if (phase_ < Phase::kAnswering) return Close();
  if (!streaming_ || answer_complete_) return;
  keep_alive_ = false;
  if (exchange_ != nullptr) exchange_->Disconnect();
  EndStream();
}

void Session::Close() {
  if (std::exchange(closed_, true)) return;
  const auto self = shared_from_this();
  StopStreaming();
  ReleaseRoom();
  queue_.clear();
  if (exchange_ != nullptr) exchange_->Disconnect();
  CloseWire();
  group_->Remove(this);
}

void Session::CheckDeadlines(SteadyTime now) {
  if (closed_) return;
  const SessionOptions& options = group_->options();
  if (sending_ != Sending::kNothing && now - write_start_ > options.write_timeout) return Close();
  if (now > deadline_) return waits_for_room() ? Refuse(NoRoom()) : Close();
  if (!streaming_) return;

  const size_t waiting = pending_chunks();
  if (waiting < options.slow_reader_chunks) {
    backlog_ = 0;
  } else if (backlog_ == 0 || waiting < backlog_) {
    backlog_ = waiting;
    backlog_since_ = now;
  } else if (now - backlog_since_ >= options.slow_reader_grace) {
    LOG_WARNING("Cut off a client that does not keep up with its stream", {"chunks", waiting});
    Close();
  }
}

}  // namespace koord::kube
