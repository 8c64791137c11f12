#pragma once
#include <memory>
#include <string>

#include "koordlet/hooks/engine/hook_runner.h"

namespace koord {
class AsioLoop;
}

namespace koord::koordlet::hooks {

struct HookServerOptions {
  std::string network = "unix";                           // nothing else: see UnixListener
  std::string address;                                    // of the socket
  std::string host_endpoint;                              // the same path as the proxy sees it
  FailurePolicy failure_policy = FailurePolicy::kIgnore;  // of the proxy, when we do not answer
  std::string config_directory;                           // of the proxy; empty: it is not told
  int max_message_bytes = 4 << 20;
};

// Answers the runtime proxy: what should be different about this pod or container?
//
// The answer is the request with what the hooks set put over it. What they set for a pod is also
// written to its cgroup at once, since a sandbox cannot carry it. Calls are answered on the loop,
// one after the other.
class HookServer {
 public:
  // Both outlive the server. Tells the proxy last, when everything works.
  static StatusOr<std::unique_ptr<HookServer>> Start(AsioLoop& loop, HookRunner& runner,
                                                     HookServerOptions options);
  ~HookServer();  // calls that wait are answered with Unavailable

 private:
  class Impl;
  explicit HookServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace koord::koordlet::hooks
