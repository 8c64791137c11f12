#pragma once
#include <memory>

#include "koordlet/hooks/tc_network_qos/network_control.h"

namespace koord {
class AsioLoop;
}

namespace koord::koordlet::hooks {

// Runs tc, ipset and iptables as processes of their own, without a shell.
std::unique_ptr<NetworkControl> MakeProcessNetworkControl(AsioLoop& loop);

}  // namespace koord::koordlet::hooks
