#pragma once
#include <memory>

#include "base/event_loop.h"
#include "base/scope.h"
#include "kube/http.h"
#include "kube/transport/transport.h"

namespace koord::kube {

// Carries requests to a handler in this process: no sockets, no threads, no time of its own. On a
// VirtualLoop the same requests meet the same answers in the same order in every run.
//
// The handler sees the requests as coming from `user`, which stands for an authenticated caller.
class InProcessTransport final : public Transport {
 public:
  // A member of system:masters, who may do everything.
  static UserInfo Admin();

  InProcessTransport(EventLoop& loop, HttpHandler& handler, UserInfo user = Admin());

  std::shared_ptr<Call> Send(HttpRequest request, Duration timeout, Done done) override;
  std::unique_ptr<Stream> Open(HttpRequest request, StreamEvents events) override;

 private:
  void Deliver(HttpRequest request, std::shared_ptr<ResponseWriter> writer);

  EventLoop& loop_;
  HttpHandler& handler_;
  UserInfo user_;
  Scope scope_;
};

}  // namespace koord::kube
