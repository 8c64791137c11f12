#pragma once
#include <string>

#include "koordlet/hooks/engine/hook_stage.h"

namespace koord::koordlet::hooks {

// Apart from the server, since simulated nodes have options but no gRPC.
struct HookServerOptions {
  std::string network = "unix";                           // nothing else: see UnixListener
  std::string address;                                    // of the socket
  std::string host_endpoint;                              // the same path as the proxy sees it
  FailurePolicy failure_policy = FailurePolicy::kIgnore;  // of the proxy, when we do not answer
  std::string config_directory;                           // of the proxy; empty: it is not told
  int max_message_bytes = 4 << 20;
};

}  // namespace koord::koordlet::hooks
