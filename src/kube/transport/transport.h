#pragma once
#include <absl/functional/any_invocable.h>

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"
#include "kube/http.h"

namespace koord::kube {

// Carries requests to an API server. Three implementations: HttpTransport (sockets and TLS),
// InProcessTransport (a handler in this process, deterministic) and FaultTransport (wraps another
// and misbehaves on purpose). All callbacks run on the event loop, never inside the call itself.
class Transport {
 public:
  // A failed Status means that no answer came: kUnavailable (not sent or connection lost; see
  // WasNotSent), kDeadlineExceeded, or what is wrong with the credentials. HTTP errors are answers.
  using Done = absl::AnyInvocable<void(StatusOr<HttpResponse>)>;

  // Cancels the call it stands for; harmless afterwards. Dropping it lets the call go on.
  class Call {
   public:
    virtual ~Call() = default;
    virtual void Cancel() = 0;  // `done` is not called any more
  };

  // An open streaming answer. Destroying it closes it, also from within one of its callbacks; no
  // callback runs afterwards.
  class Stream {
   public:
    virtual ~Stream() = default;
  };

  // `head` comes once, then, for a 2xx answer, any number of `data`, then `end` (OK if the peer
  // closed cleanly). An answer of another code arrives in `head` with its whole body, and `end`
  // follows. When nothing could be reached, only `end` comes.
  struct StreamEvents {
    absl::AnyInvocable<void(HttpResponse head)> head;
    absl::AnyInvocable<void(std::string_view data)> data;
    absl::AnyInvocable<void(Status)> end;
  };

  virtual ~Transport() = default;
  // A `timeout` of zero is none.
  virtual std::shared_ptr<Call> Send(HttpRequest request, Duration timeout, Done done) = 0;
  virtual std::unique_ptr<Stream> Open(HttpRequest request, StreamEvents events) = 0;
};

// A kUnavailable error that tells that the server cannot have seen the request: the connection was
// refused, the name did not resolve, the TLS handshake failed.
Status NotSentError(std::string_view message);
bool WasNotSent(const Status& status);

}  // namespace koord::kube
