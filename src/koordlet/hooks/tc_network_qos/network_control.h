#pragma once
#include <functional>
#include <vector>

#include "koordlet/hooks/tc_network_qos/tc_state.h"

namespace koord::koordlet::hooks {

// Runs commands that change the network of the node.
class NetworkControl {
 public:
  using Done = std::function<void(Status)>;

  virtual ~NetworkControl() = default;
  // One after the other until one fails; `done` comes later, on the loop. One list at a time.
  virtual void Run(std::vector<NetCommand> commands, Done done) = 0;
};

}  // namespace koord::koordlet::hooks
