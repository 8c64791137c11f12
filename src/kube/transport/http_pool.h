#pragma once
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "base/asio_loop.h"
#include "base/event_loop.h"
#include "kube/transport/http_connection.h"
#include "kube/transport/http_dialer.h"

namespace koord::kube {

// Decides which connection carries a request: one that is open and has room for it, else one that
// is being opened and will, else a new one. How much a connection takes is the server's choice, so
// while a server has not been met yet, all wait for the first connection; once it is known to speak
// HTTP/1.1, everyone opens their own.
//
// Requests beyond the limit wait their turn; watches are not counted. Connections that nobody uses
// are closed after a while.
class HttpPool final : public std::enable_shared_from_this<HttpPool> {
 private:
  struct Slot;

 public:
  struct Options {
    HttpTimeouts timeouts;
    size_t max_requests = 64;
    Duration idle_timeout = std::chrono::seconds(60);
  };

  // Somebody who needs a connection. Called from within Acquire or later.
  class User {
   public:
    virtual ~User() = default;
    // `reused` says that the server may have been about to close it.
    virtual void OnConnection(HttpConnection& connection, bool reused) = 0;
    virtual void OnNoConnection(const Status& status) = 0;

   private:
    friend class HttpPool;
    enum class State { kOut, kWaiting, kTurn, kDialing, kConnected };
    State state_ = State::kOut;
    bool limited_ = false;
    std::shared_ptr<Slot> slot_;
  };

  HttpPool(AsioLoop& loop, Options options);
  ~HttpPool();

  // From now on connections lead there. What is open serves only those that use it already.
  void SetEndpoint(HttpEndpoint endpoint);

  // `limited` users are counted; `fresh` ones get no kept connection of HTTP/1.1, whose end shows
  // only when it is used.
  void Acquire(const std::shared_ptr<User>& user, bool limited, bool fresh);
  // Whatever the user has or waits for. Its exchange, if any, must be over.
  void Release(User& user);
  // Releases nobody, but calls nobody either.
  void Shutdown();

 private:
  void Assign(const std::shared_ptr<User>& user, bool fresh);
  std::shared_ptr<Slot> FindOpen(bool fresh);
  std::shared_ptr<Slot> FindDialing() const;
  void Dial(const std::shared_ptr<User>& first);
  void OnDialed(const std::shared_ptr<Slot>& slot,
                StatusOr<std::unique_ptr<HttpConnection>> connection);
  void Connect(const std::shared_ptr<User>& user, const std::shared_ptr<Slot>& slot, bool reused);
  void Leave(User& user);
  void ServeWaiting();
  void SweepIdle();

  AsioLoop& loop_;
  const Options options_;
  HttpEndpoint endpoint_;
  bool one_by_one_ = false;                 // the server is known to speak HTTP/1.1
  std::list<std::shared_ptr<Slot>> slots_;  // the most recently used last
  size_t in_use_ = 0;                       // limited users that have their turn
  std::deque<std::weak_ptr<User>> waiting_;
  Timer sweeper_;
};

}  // namespace koord::kube
