#pragma once
#include <absl/functional/any_invocable.h>

#include <optional>

#include "kube/http.h"

namespace koord::kube {

// Decides from a request's head alone whether its body is worth reading, so that strangers cannot
// fill the server's memory. Asked only about requests that have a body; the handler sees all of
// them, and decides on its own.
class RequestGate {
 public:
  // Nothing: the body is read, and the handler called.
  using Done = absl::AnyInvocable<void(std::optional<HttpResponse> refusal)>;

  virtual ~RequestGate() = default;
  // `head` is valid during the call only. `done` runs on the server's loop, at once or later.
  virtual void Check(const HttpRequest& head, Done done) = 0;
};

}  // namespace koord::kube
