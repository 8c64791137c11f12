#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <vector>

#include "base/event_loop.h"
#include "kube/http.h"
#include "kube/serving/host_policy.h"
#include "kube/serving/request_parser.h"
#include "kube/serving/response_text.h"
#include "kube/serving/session.h"

namespace koord::kube {

struct SessionOptions {
  RequestParser::Limits request;
  Duration handshake_timeout = 10s;
  Duration header_timeout = 10s;
  Duration body_timeout = 60s;
  // Longer than clients keep idle connections, so that they close first.
  Duration idle_timeout = 180s;
  Duration write_timeout = 30s;  // the peer takes nothing of an answer

  // A stream with this many chunks waiting that does not catch up in time is cut off; one with this
  // many bytes waiting at once.
  size_t slow_reader_chunks = 1000;
  Duration slow_reader_grace = 5s;
  size_t slow_reader_bytes = size_t{256} * 1024 * 1024;

  size_t max_streams = 4096;  // further ones get 429
};

// All sessions of a server, and what they share.
class SessionGroup : public std::enable_shared_from_this<SessionGroup> {
 public:
  SessionGroup(EventLoop& loop, SessionOptions options, HostPolicy hosts, HttpHandler& handler);

  EventLoop& loop() { return loop_; }
  SteadyTime now() const { return loop_.clock().Steady(); }
  const SessionOptions& options() const { return options_; }
  const HostPolicy& hosts() const { return hosts_; }
  HttpHandler& handler() { return handler_; }
  std::string_view date() { return date_.At(loop_.clock().Now()); }

  void Add(std::shared_ptr<Session> session);
  void Remove(const Session* session);
  size_t size() const { return sessions_.size(); }

  // Flushes at the end of the loop's turn, so that what one turn writes leaves together.
  void FlushSoon(std::shared_ptr<Session> session);

  bool AddStream();  // false if there are too many
  void RemoveStream() { --streams_; }
  size_t streams() const { return streams_; }

  // Lets answers under way be finished until `grace` is over. `done` runs when no session is left.
  void Stop(Duration grace, Task done);
  void CloseAll();

 private:
  void ScheduleSweep();
  void Sweep();
  std::vector<std::shared_ptr<Session>> Sessions() const;

  EventLoop& loop_;
  const SessionOptions options_;
  const HostPolicy hosts_;
  HttpHandler& handler_;
  DateHeader date_;
  absl::flat_hash_map<const Session*, std::shared_ptr<Session>> sessions_;
  std::vector<std::shared_ptr<Session>> to_flush_;
  size_t streams_ = 0;
  Task stopped_;
  Timer sweep_;
  Timer stop_deadline_;
};

}  // namespace koord::kube
