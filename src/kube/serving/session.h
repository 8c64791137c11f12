#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/http.h"
#include "kube/serving/request_parser.h"

namespace koord::kube {

class SessionGroup;

// One connection's HTTP: takes requests out of the bytes that arrive, hands them to the handler one
// after the other, and sends the answers. Where the bytes come from is the derived class's
// business.
//
// Requests that follow before an answer is sent wait their turn. Chunks that are written while an
// earlier write is under way gather and leave together. A peer that takes too long, with its
// request or with taking an answer, is cut off.
class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(std::shared_ptr<SessionGroup> group);
  virtual ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Ends what goes on as soon as its answer is sent: streams now, others when the handler is done.
  void Stop();
  // Ends everything at once. The handler learns that its peer is gone.
  void Close();

  void Flush();  // sends what has gathered
  void CheckDeadlines(SteadyTime now);

  // Takes up reading a body that had to wait for room, if there is some now. False: it still waits.
  bool ReadBodyIfRoom();
  bool waits_for_room() const { return phase_ == Phase::kQueued; }
  // A body that arrives more slowly than peers usually send.
  bool IsSlowBody(SteadyTime now) const;
  // Nothing was asked that is not answered yet.
  bool IsIdle() const { return phase_ < Phase::kAdmission || phase_ == Phase::kClosing; }
  bool was_of_use() const { return was_of_use_; }  // something has been answered
  SteadyTime since() const { return since_; }      // when it last began to wait for what it does

 protected:
  // Of the derived class: start an operation that reports through On...; never from inside the
  // call. One read and one write are under way at a time.
  virtual void StartRead(std::span<char> room) = 0;
  virtual void StartWrite(std::string_view bytes) = 0;
  // Tells the peer that no more will come, then calls OnGone.
  virtual void StartShutdown() = 0;
  virtual void CloseWire() = 0;

  // To the derived class: `user` is who the peer has proved to be, if it has.
  void Begin(std::optional<UserInfo> user);
  void OnRead(size_t size);
  void OnWritten();
  void OnGone();  // end of file, or an error

 private:
  class Exchange;
  enum class Phase {
    kOpening,
    kIdle,
    kHeader,
    kAdmission,  // the gate is asked whether the body is to be read
    kQueued,     // there is no room for the body yet
    kBody,
    kAnswering,
    kClosing
  };
  enum class Sending { kNothing, kBuffer, kBody };

  void EnterPhase(Phase phase);
  void ReadMore();
  void Process();
  void AfterFeeding();
  void OnHead();
  void OnAdmission(std::optional<HttpResponse> refusal);
  size_t RoomNeeded() const;
  void TakeRoom();
  void ReleaseRoom();
  std::optional<ApiError> Objection(const HttpRequest& request) const;
  void Dispatch();
  void Refuse(HttpResponse response);

  // Called by the exchange.
  void SendWhole(HttpResponse response);
  bool StartStream(const HttpResponse& head);
  void QueueChunk(std::shared_ptr<const std::string> chunk);
  void EndStream();
  void OnAbandoned();
  size_t pending_chunks() const { return queue_.size() + chunks_in_flight_; }

  void FillBuffer();
  void Send(Sending what, std::string_view bytes);
  void StopStreaming();
  void OnAnswered();
  void Linger();

  const std::shared_ptr<SessionGroup> group_;
  std::optional<UserInfo> user_;
  Phase phase_ = Phase::kOpening;
  SteadyTime since_;  // of the phase
  SteadyTime deadline_;
  bool was_of_use_ = false;
  bool stopping_ = false;
  bool closed_ = false;

  // What has arrived: input_[taken_, filled_).
  std::string input_;
  size_t taken_ = 0;
  size_t filled_ = 0;
  bool reading_ = false;
  RequestParser parser_;
  bool told_to_continue_ = false;
  size_t room_ = 0;  // bytes of the group's budget, for the body
  size_t body_at_phase_start_ = 0;

  // The answer under way.
  Exchange* exchange_ = nullptr;
  bool keep_alive_ = true;
  bool chunked_ = true;
  bool without_body_ = false;  // HEAD
  bool streaming_ = false;
  bool answer_complete_ = false;  // nothing more will be added
  bool discard_input_ = false;    // the request was refused half-way

  Sending sending_ = Sending::kNothing;
  std::string buffer_;     // what leaves next
  std::string in_flight_;  // what is leaving
  std::string body_;       // of an answer too large to be worth copying; follows buffer_
  size_t body_sent_ = 0;
  std::deque<std::shared_ptr<const std::string>> queue_;
  size_t queued_bytes_ = 0;
  size_t chunks_in_flight_ = 0;
  SteadyTime write_start_{0};

  // Since when a full queue has not been shorter than this.
  size_t backlog_ = 0;
  SteadyTime backlog_since_{0};
};

}  // namespace koord::kube
