#include "kube/transport/http_pool.h"

#include <algorithm>
#include <utility>

#include "kube/transport/transport.h"

namespace koord::kube {
namespace {

// How many requests may wait for a connection to open before another one is opened: what servers
// of HTTP/2 usually take at a time.
constexpr size_t kUsualStreams = 100;

// The same, with all that it says of the reason.
Status NotSent(const Status& reason) {
  Status status = NotSentError(Message(reason));
  reason.ForEachPayload(
      [&](const auto& type, const absl::Cord& payload) { status.SetPayload(type, payload); });
  return status;
}

}  // namespace

// A connection, or one to be.
struct HttpPool::Slot {
  std::unique_ptr<HttpDialer> dialer;  // until it is open
  std::unique_ptr<HttpConnection> connection;
  size_t users = 0;
  std::vector<std::weak_ptr<User>> dialing;  // those of them that wait for it to open
  SteadyTime idle_since{};
  bool retired = false;  // opened with what is no longer valid
};

HttpPool::HttpPool(AsioLoop& loop, Options options)
    : loop_(loop), options_(options), sweeper_(loop) {}
HttpPool::~HttpPool() = default;

void HttpPool::Shutdown() {
  sweeper_.Cancel();
  slots_.clear();
  waiting_.clear();
}

void HttpPool::SetEndpoint(HttpEndpoint endpoint) {
  endpoint_ = std::move(endpoint);
  one_by_one_ = endpoint_.tls == nullptr || !endpoint_.http2;
  std::erase_if(slots_, [](const auto& slot) { return slot->users == 0; });
  for (const auto& slot : slots_) slot->retired = true;
}

void HttpPool::Acquire(const std::shared_ptr<User>& user, bool limited, bool fresh) {
  user->limited_ = limited;
  if (!limited) return Assign(user, fresh);
  if (in_use_ >= options_.max_requests || !waiting_.empty()) {
    user->state_ = User::State::kWaiting;
    waiting_.push_back(user);
    return;
  }
  ++in_use_;
  Assign(user, fresh);
}

void HttpPool::Release(User& user) {
  const auto state = std::exchange(user.state_, User::State::kOut);
  if (state == User::State::kDialing || state == User::State::kConnected) Leave(user);
  if (!user.limited_ || state == User::State::kOut || state == User::State::kWaiting) return;
  --in_use_;
  ServeWaiting();
}

void HttpPool::ServeWaiting() {
  while (!waiting_.empty() && in_use_ < options_.max_requests) {
    const auto user = waiting_.front().lock();
    waiting_.pop_front();
    if (user == nullptr || user->state_ != User::State::kWaiting) continue;
    ++in_use_;
    user->state_ = User::State::kTurn;
    // Later, because this may be called by another user's callback.
    loop_.Post([self = shared_from_this(), user] {
      if (user->state_ == User::State::kTurn) self->Assign(user, false);
    });
  }
}

void HttpPool::Assign(const std::shared_ptr<User>& user, bool fresh) {
  if (const auto slot = FindOpen(fresh)) {
    ++slot->users;
    return Connect(user, slot, true);
  }
  user->state_ = User::State::kDialing;
  if (const auto slot = FindDialing()) {
    ++slot->users;
    slot->dialing.push_back(user);
    user->slot_ = slot;
    return;
  }
  Dial(user);
}

std::shared_ptr<HttpPool::Slot> HttpPool::FindOpen(bool fresh) {
  for (auto at = slots_.end(); at != slots_.begin();) {
    const auto slot = *--at;
    if (slot->connection == nullptr || slot->retired || !slot->connection->has_room()) continue;
    if (slot->users > 0) return slot;
    if (fresh && !slot->connection->multiplexed()) continue;
    if (slot->connection->LooksAlive()) return slot;
    at = slots_.erase(at);
  }
  return nullptr;
}

std::shared_ptr<HttpPool::Slot> HttpPool::FindDialing() const {
  if (one_by_one_) return nullptr;
  const auto found = std::find_if(slots_.begin(), slots_.end(), [](const auto& slot) {
    return slot->connection == nullptr && !slot->retired && slot->users < kUsualStreams;
  });
  return found == slots_.end() ? nullptr : *found;
}

void HttpPool::Dial(const std::shared_ptr<User>& first) {
  const auto slot = std::make_shared<Slot>();
  slot->users = 1;
  slot->dialing.push_back(first);
  first->slot_ = slot;
  slots_.push_back(slot);
  slot->dialer = std::make_unique<HttpDialer>(
      loop_, endpoint_, options_.timeouts,
      [this, weak = std::weak_ptr(slot)](StatusOr<std::unique_ptr<HttpConnection>> connection) {
        if (const auto alive = weak.lock()) OnDialed(alive, std::move(connection));
      });
}

void HttpPool::OnDialed(const std::shared_ptr<Slot>& slot,
                        StatusOr<std::unique_ptr<HttpConnection>> connection) {
  const auto self = shared_from_this();
  const auto dialer = std::move(slot->dialer);
  const bool open = connection.ok();
  if (open) {
    slot->connection = std::move(*connection);
    one_by_one_ = !slot->connection->multiplexed();
  } else {
    slots_.remove(slot);
  }
  const Status error = open ? absl::OkStatus() : NotSent(connection.status());
  for (const auto& weak : std::exchange(slot->dialing, {})) {
    const auto user = weak.lock();
    if (user == nullptr || user->state_ != User::State::kDialing || user->slot_ != slot) continue;
    if (!open) {
      user->OnNoConnection(error);
    } else if (slot->connection->has_room()) {
      Connect(user, slot, false);
    } else {
      Leave(*user);
      Assign(user, false);
    }
  }
}

void HttpPool::Connect(const std::shared_ptr<User>& user, const std::shared_ptr<Slot>& slot,
                       bool reused) {
  user->state_ = User::State::kConnected;
  user->slot_ = slot;
  user->OnConnection(*slot->connection, reused);
}

void HttpPool::Leave(User& user) {
  const auto slot = std::exchange(user.slot_, nullptr);
  if (--slot->users > 0) return;
  const auto at = std::find(slots_.begin(), slots_.end(), slot);
  if (at == slots_.end()) return;
  if (slot->connection == nullptr || slot->retired || !slot->connection->usable()) {
    slots_.erase(at);
    return;
  }
  slots_.splice(slots_.end(), slots_, at);
  slot->idle_since = loop_.clock().Steady();
  if (!sweeper_.pending()) sweeper_.Set(options_.idle_timeout, [this] { SweepIdle(); });
}

void HttpPool::SweepIdle() {
  const SteadyTime now = loop_.clock().Steady();
  Duration next = Duration::max();
  std::erase_if(slots_, [&](const auto& slot) {
    if (slot->users > 0) return false;
    const Duration left = slot->idle_since + options_.idle_timeout - now;
    if (left > Duration::zero()) next = std::min(next, left);
    return left <= Duration::zero();
  });
  if (next < Duration::max()) sweeper_.Set(next, [this] { SweepIdle(); });
}

}  // namespace koord::kube
