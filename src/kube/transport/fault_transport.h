#pragma once
#include <memory>
#include <vector>

#include "base/event_loop.h"
#include "base/random.h"
#include "base/scope.h"
#include "kube/transport/transport.h"

namespace koord::kube {

// What may go wrong with a request, each with its probability.
struct Faults {
  double refused = 0;      // no connection; the server never sees the request
  double lost_answer = 0;  // the server does as asked, then the connection breaks
  double duplicate = 0;    // the request arrives twice; the caller hears one of the two answers
  // The request, its answer or a piece of a watch is held back for up to `max_delay`. A request
  // that is held back longer than its time-out is still carried out afterwards.
  double delay = 0;
  Duration max_delay = std::chrono::seconds(2);

  // Answers of a server that did nothing.
  double conflict = 0;  // 409 to PUT, PATCH and DELETE
  double expired = 0;   // 410 to lists and watches that ask for a version or a further page
  double too_many_requests = 0;  // 429
  int retry_after_seconds = 1;   // of the 429
  double internal_error = 0;     // 500

  double dropped_watch = 0;  // per piece of a watch: the connection breaks in the middle of it
};

// Wraps another transport and misbehaves on purpose, the same way for the same seed. This is how we
// show that a component survives what networks and API servers really do.
class FaultTransport final : public Transport {
 public:
  FaultTransport(EventLoop& loop, std::shared_ptr<Transport> inner, uint64_t seed,
                 Faults faults = {});
  ~FaultTransport() override;

  // Holds for requests and watch pieces from now on.
  void SetFaults(const Faults& faults) { faults_ = faults; }

  // Breaks every open watch now.
  void DropWatches();

  std::shared_ptr<Call> Send(HttpRequest request, Duration timeout, Done done) override;
  std::unique_ptr<Stream> Open(HttpRequest request, StreamEvents events) override;

 private:
  class PendingCall;
  class Watch;
  class WatchHandle;

  Duration RollDelay();
  // The answer of a server that did nothing; none if it does as asked.
  std::optional<HttpResponse> RollAnswer(const HttpRequest& request);
  void Deliver(const HttpRequest& request, Duration timeout, std::shared_ptr<PendingCall> call);
  // Runs `task` after `delay`; now if that is zero.
  void After(Duration delay, Task task);

  EventLoop& loop_;
  std::shared_ptr<Transport> inner_;
  Random random_;
  Faults faults_;
  std::vector<std::weak_ptr<Watch>> watches_;
  Scope scope_;
};

}  // namespace koord::kube
