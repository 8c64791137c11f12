#include "kube/serving/session_group.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace koord::kube {
namespace {

// Deadlines are checked this often, all at once: a timer for each would cost more than the
// requests.
constexpr Duration kSweepInterval = 1s;
// Looking for slow bodies takes a while when there are many connections.
constexpr Duration kSlowLookInterval = 100ms;
// What a connection costs besides bodies, roughly: buffers, and the state of TLS.
constexpr size_t kConnectionBytes = 64 * 1024;
// Smaller bursts are not worth the trouble.
constexpr size_t kBurst = size_t{16} * 1024 * 1024;

// A body that is allowed at all must fit.
BodyBudget BudgetOf(const SessionOptions& options) {
  const size_t total = std::max(options.body_budget, options.request.body_bytes);
  return {total, std::max(total / 2, options.request.body_bytes)};
}

}  // namespace

SessionGroup::SessionGroup(EventLoop& loop, SessionOptions options, HostPolicy hosts,
                           HttpHandler& handler, RequestGate* gate)
    : loop_(loop),
      options_(std::move(options)),
      hosts_(std::move(hosts)),
      handler_(handler),
      gate_(gate),
      budget_(BudgetOf(options_)),
      sweep_(loop),
      stop_deadline_(loop) {}

bool SessionGroup::MakeWay(const Peer& peer) {
  const auto known = connections_of_.find(peer.address);
  const size_t of_peer = known == connections_of_.end() ? 0 : known->second;
  const size_t limit =
      peer.loopback ? options_.max_connections_of_loopback : options_.max_connections_per_peer;
  const bool fits = (of_peer < limit || DropOldestIdle(&peer.address)) &&
                    (size() < options_.max_connections || DropOldestIdle(nullptr));
  if (!fits) ++counted_.refused_connections;
  return fits;
}

// Those that have never had an answer go first: peers that nobody knows yet, or that never will
// ask.
bool SessionGroup::DropOldestIdle(const std::string* of_peer) {
  const Entry* oldest = nullptr;
  const auto rank = [](const Entry& entry) {
    return std::pair(entry.session->was_of_use(), entry.session->since());
  };
  for (const auto& [key, entry] : sessions_) {
    if (!entry.session->IsIdle() || (of_peer != nullptr && entry.peer.address != *of_peer)) {
      continue;
    }
    if (oldest == nullptr || rank(entry) < rank(*oldest)) oldest = &entry;
  }
  if (oldest == nullptr) return false;
  ++counted_.dropped_idle;
  const auto session = oldest->session;
  session->Close();
  return true;
}

void SessionGroup::Add(std::shared_ptr<Session> session, Peer peer) {
  const Session* key = session.get();
  ++connections_of_[peer.address];
  sessions_.emplace(key, Entry{std::move(session), std::move(peer)});
  burst_ = std::max(burst_, budget_.used() + size() * kConnectionBytes);
  ScheduleSweep();
}

void SessionGroup::Remove(const Session* session) {
  const auto entry = sessions_.find(session);
  if (entry == sessions_.end()) return;
  const auto count = connections_of_.find(entry->second.peer.address);
  if (--count->second == 0) connections_of_.erase(count);
  sessions_.erase(entry);
  if (!sessions_.empty()) return;
  if (burst_ < kBurst) sweep_.Cancel();
  stop_deadline_.Cancel();
  if (stopped_) loop_.Post(std::exchange(stopped_, nullptr));
}

ServingStats SessionGroup::stats() const {
  ServingStats stats = counted_;
  stats.connections = size();
  stats.streams = streams_;
  stats.body_bytes = budget_.used();
  stats.most_body_bytes = budget_.most_used();
  stats.waiting_bodies =
      static_cast<size_t>(std::count_if(queue_.begin(), queue_.end(), [](const auto& weak) {
        const auto session = weak.lock();
        return session != nullptr && session->waits_for_room();
      }));
  return stats;
}

// Whose share of the budget it is; on this machine all may have all of it.
const std::string& SessionGroup::ShareOf(const Session& session) const {
  static const std::string nobodys;
  const auto entry = sessions_.find(&session);
  if (entry == sessions_.end() || entry->second.peer.loopback) return nobodys;
  return entry->second.peer.address;
}

bool SessionGroup::TakeRoom(const Session& session, size_t bytes) {
  const std::string& share = ShareOf(session);
  bool taken = budget_.Take(share, bytes);
  if (!taken && now() - kSlowLookInterval >= looked_for_slow_) {
    for (const auto& slow : SlowBodies()) {
      if (budget_.ExceedsShare(share, bytes) && ShareOf(*slow) != share) continue;
      LOG_V(2, "Cut off a client whose request body arrives too slowly");
      ++counted_.dropped_slow;
      slow->Close();
      taken = budget_.Take(share, bytes);
      if (taken) break;
    }
    if (!taken) looked_for_slow_ = now();
  }
  burst_ = std::max(burst_, budget_.used() + size() * kConnectionBytes);
  return taken;
}

void SessionGroup::ReleaseRoom(const Session& session, size_t bytes) {
  budget_.Give(ShareOf(session), bytes);
  if (queue_.empty() || std::exchange(serves_queue_soon_, true)) return;
  loop_.Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->ServeQueue();
  });
}

// Whichever fits is served: a small body does not wait for a large one.
void SessionGroup::ServeQueue() {
  serves_queue_soon_ = false;
  for (auto& weak : std::exchange(queue_, {})) {
    const auto session = weak.lock();
    if (session != nullptr && !session->ReadBodyIfRoom()) queue_.push_back(std::move(weak));
  }
}

std::vector<std::shared_ptr<Session>> SessionGroup::SlowBodies() const {
  std::vector<std::shared_ptr<Session>> slow;
  for (const auto& [key, entry] : sessions_) {
    if (entry.session->IsSlowBody(now())) slow.push_back(entry.session);
  }
  std::sort(slow.begin(), slow.end(),
            [](const auto& a, const auto& b) { return a->since() < b->since(); });
  return slow;
}

void SessionGroup::FlushSoon(std::shared_ptr<Session> session) {
  if (to_flush_.empty()) {
    loop_.Post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      for (const auto& waiting : std::exchange(self->to_flush_, {})) waiting->Flush();
    });
  }
  to_flush_.push_back(std::move(session));
}

bool SessionGroup::AddStream() {
  if (streams_ >= options_.max_streams) return false;
  ++streams_;
  return true;
}

void SessionGroup::Stop(Duration grace, Task done) {
  if (sessions_.empty()) return loop_.Post(std::move(done));
  stopped_ = std::move(done);
  stop_deadline_.Set(grace, [this] { CloseAll(); });
  for (const auto& session : Sessions()) session->Stop();
}

void SessionGroup::CloseAll() {
  for (const auto& session : Sessions()) session->Close();
}

void SessionGroup::ScheduleSweep() {
  if (!sweep_.pending()) sweep_.Set(kSweepInterval, [this] { Sweep(); });
}

void SessionGroup::Sweep() {
  const SteadyTime now = this->now();
  for (const auto& session : Sessions()) session->CheckDeadlines(now);
  ServeQueue();
  ReturnMemoryAfterBurst();
  if (!sessions_.empty() || burst_ >= kBurst) ScheduleSweep();
}

void SessionGroup::ReturnMemoryAfterBurst() {
  const size_t held = budget_.used() + size() * kConnectionBytes;
  if (burst_ < kBurst || held > burst_ / 4) return;
  burst_ = held;
  options_.return_memory();
}

std::vector<std::shared_ptr<Session>> SessionGroup::Sessions() const {
  std::vector<std::shared_ptr<Session>> sessions;
  sessions.reserve(sessions_.size());
  for (const auto& [key, entry] : sessions_) sessions.push_back(entry.session);
  return sessions;
}

}  // namespace koord::kube
