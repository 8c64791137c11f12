#pragma once
#include <memory>

#include "koordlet/hooks/engine/hook_runner.h"
#include "koordlet/hooks/engine/hook_server_options.h"

namespace koord {
class AsioLoop;
}

namespace koord::koordlet::hooks {

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
