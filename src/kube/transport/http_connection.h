#pragma once
#include <absl/functional/any_invocable.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/asio_loop.h"
#include "base/status.h"
#include "kube/http.h"

namespace koord::kube {

struct OpenSocket;

// An open connection to a server: one request after the other (HTTP/1.1) or many at a time
// (HTTP/2). Callbacks never run inside a call. Destroying it closes it, also from within one of its
// callbacks; no callback runs afterwards.
class HttpConnection {
 public:
  // `head` comes without body. `end` is called once: OK after a complete answer; an error that
  // WasNotSent knows if the server has not looked at the request, so that it may be sent again.
  struct Events {
    absl::AnyInvocable<void(HttpResponse head)> head;
    absl::AnyInvocable<void(std::string_view data)> data;
    absl::AnyInvocable<void(const Status& status)> end;
  };
  using ExchangeId = int32_t;

  virtual ~HttpConnection() = default;

  // To be called only where there is room. `body_limit` of zero is none.
  virtual ExchangeId Begin(HttpRequest request, uint64_t body_limit, Events events) = 0;
  // Nobody wants the answer any more: none of the exchange's callbacks runs from now on.
  virtual void Cancel(ExchangeId id) = 0;

  virtual bool multiplexed() const = 0;
  // Whether another exchange may begin now, and whether one may ever.
  virtual bool has_room() const = 0;
  virtual bool usable() const = 0;
  // Of a connection without exchanges: false if the peer has closed it, or sent what nobody asked
  // for.
  virtual bool LooksAlive() = 0;
};

std::unique_ptr<HttpConnection> MakeHttp1Connection(OpenSocket socket);
// A peer that sends nothing is asked for a sign of life after two thirds of the time after which
// it counts as dead.
std::unique_ptr<HttpConnection> MakeHttp2Connection(AsioLoop& loop, OpenSocket socket,
                                                    Duration dead_peer);

}  // namespace koord::kube
