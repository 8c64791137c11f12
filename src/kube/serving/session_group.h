#pragma once
#include <absl/container/flat_hash_map.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/return_memory.h"
#include "base/string_map.h"
#include "kube/http.h"
#include "kube/serving/body_budget.h"
#include "kube/serving/host_policy.h"
#include "kube/serving/request_gate.h"
#include "kube/serving/request_parser.h"
#include "kube/serving/response_text.h"
#include "kube/serving/session.h"

namespace koord::kube {

struct SessionOptions {
  RequestParser::Limits request;
  Duration handshake_timeout = 10s;
  Duration header_timeout = 10s;
  Duration admission_timeout = 30s;  // of the gate's answer
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

  // Bodies of all requests that are being read or answered. One that does not fit waits; the
  // oldest that arrive too slowly are cut off in its favour. After `queue_timeout` it gets 429.
  size_t body_budget = size_t{64} * 1024 * 1024;
  Duration queue_timeout = 5s;
  Duration slow_body_grace = 2s;
  size_t slow_body_rate = size_t{16} * 1024;  // bytes a second

  // When there are more connections, the one that has been idle for longest is closed in favour of
  // the new one; if none is idle, the new one is. The same for those of one peer. Everybody on this
  // machine is the same peer.
  size_t max_connections = 4096;
  size_t max_connections_per_peer = 512;
  size_t max_connections_of_loopback = 4096;

  std::function<void()> return_memory = ReturnFreeMemory;  // called after a burst
};

// Whoever is at the far end of a connection.
struct Peer {
  std::string address;
  bool loopback = true;
};

struct ServingStats {
  size_t connections = 0;
  size_t streams = 0;
  size_t body_bytes = 0;       // that are held for request bodies
  size_t most_body_bytes = 0;  // ever
  size_t waiting_bodies = 0;   // for which there is no room yet
  uint64_t refused_connections = 0;
  uint64_t dropped_idle = 0;  // connections, in favour of new ones
  uint64_t dropped_slow = 0;  // connections with slow bodies, in favour of others
};

// All sessions of a server, and what they share.
class SessionGroup : public std::enable_shared_from_this<SessionGroup> {
 public:
  // `gate` may be null: every body is read.
  SessionGroup(EventLoop& loop, SessionOptions options, HostPolicy hosts, HttpHandler& handler,
               RequestGate* gate = nullptr);

  EventLoop& loop() { return loop_; }
  SteadyTime now() const { return loop_.clock().Steady(); }
  const SessionOptions& options() const { return options_; }
  const HostPolicy& hosts() const { return hosts_; }
  HttpHandler& handler() { return handler_; }
  RequestGate* gate() { return gate_; }
  std::string_view date() { return date_.At(loop_.clock().Now()); }

  // Makes way for another connection of this peer. False: there is none.
  bool MakeWay(const Peer& peer);
  void Add(std::shared_ptr<Session> session, Peer peer = {});
  void Remove(const Session* session);
  size_t size() const { return sessions_.size(); }
  ServingStats stats() const;

  // Room for bodies. Who gets none is called when there is some.
  bool TakeRoom(const Session& session, size_t bytes);
  void ReleaseRoom(const Session& session, size_t bytes);
  void WaitForRoom(std::weak_ptr<Session> session) { queue_.push_back(std::move(session)); }

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
  bool DropOldestIdle(const std::string* of_peer);
  std::vector<std::shared_ptr<Session>> SlowBodies() const;  // oldest first
  const std::string& ShareOf(const Session& session) const;
  void ServeQueue();
  void ReturnMemoryAfterBurst();

  struct Entry {
    std::shared_ptr<Session> session;
    Peer peer;
  };

  EventLoop& loop_;
  const SessionOptions options_;
  const HostPolicy hosts_;
  HttpHandler& handler_;
  RequestGate* const gate_;
  BodyBudget budget_;
  DateHeader date_;
  absl::flat_hash_map<const Session*, Entry> sessions_;
  StringMap<size_t> connections_of_;           // by the peer's address
  std::vector<std::weak_ptr<Session>> queue_;  // those without room for their bodies
  bool serves_queue_soon_ = false;
  SteadyTime looked_for_slow_{SteadyTime::min()};
  size_t burst_ = 0;  // the most bytes held since memory was last returned
  ServingStats counted_;
  std::vector<std::shared_ptr<Session>> to_flush_;
  size_t streams_ = 0;
  Task stopped_;
  Timer sweep_;
  Timer stop_deadline_;
};

}  // namespace koord::kube
