#include "kube/serving/session_group.h"

#include <utility>

namespace koord::kube {
namespace {

// Deadlines are checked this often, all at once: a timer for each would cost more than the
// requests.
constexpr Duration kSweepInterval = 1s;

}  // namespace

SessionGroup::SessionGroup(EventLoop& loop, SessionOptions options, HostPolicy hosts,
                           HttpHandler& handler)
    : loop_(loop),
      options_(std::move(options)),
      hosts_(std::move(hosts)),
      handler_(handler),
      sweep_(loop),
      stop_deadline_(loop) {}

void SessionGroup::Add(std::shared_ptr<Session> session) {
  const Session* key = session.get();
  sessions_.emplace(key, std::move(session));
  ScheduleSweep();
}

void SessionGroup::Remove(const Session* session) {
  sessions_.erase(session);
  if (!sessions_.empty()) return;
  sweep_.Cancel();
  stop_deadline_.Cancel();
  if (stopped_) loop_.Post(std::exchange(stopped_, nullptr));
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
  if (!sessions_.empty()) ScheduleSweep();
}

std::vector<std::shared_ptr<Session>> SessionGroup::Sessions() const {
  std::vector<std::shared_ptr<Session>> sessions;
  sessions.reserve(sessions_.size());
  for (const auto& [key, session] : sessions_) sessions.push_back(session);
  return sessions;
}

}  // namespace koord::kube
