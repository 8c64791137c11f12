#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/node_slo.h"
#include "api/qos.h"
#include "base/status.h"

// What the network interface of a node should look like, and the commands that make it so. All of
// it is values: nothing here touches the machine.
namespace koord::koordlet::hooks {

// Of the classes of traffic; their qdisc is 1:.
inline constexpr uint32_t kTcMajor = 1;
inline constexpr uint32_t kTcRootMinor = 1;
inline constexpr uint32_t kTcSystemMinor = 2;
inline constexpr uint32_t kTcLsMinor = 3;
inline constexpr uint32_t kTcBeMinor = 4;
inline constexpr uint32_t kTcFirstPodMinor = 16;
inline constexpr uint32_t kTcLastPodMinor = 9999;

// The class that a pod's traffic belongs to; none: pods of no class are left alone.
std::optional<uint32_t> TcMinorOf(api::QosClass qos);
// net_cls.classid
inline constexpr uint32_t NetClassOf(uint32_t minor) { return kTcMajor << 16 | minor; }

struct TcRate {  // bytes per second
  int64_t rate = 0;
  int64_t ceil = 0;
  bool operator==(const TcRate&) const = default;
};

struct TcBandwidth {
  int64_t total = 0;  // bytes per second; 0: traffic is not shaped
  TcRate system;
  TcRate ls;
  TcRate be;
  bool operator==(const TcBandwidth&) const = default;
};

// A pod with a limit of its own.
struct TcPod {
  uint32_t minor = 0;
  int64_t rate = 0;  // bytes per second
  std::string ip;    // empty: uses the node's network, found by its cgroup
  bool operator==(const TcPod&) const = default;
};

struct TcState {
  std::string interface;
  TcBandwidth bandwidth;
  std::map<uint32_t, std::set<std::string, std::less<>>> ips;  // by class; IPv4
  std::map<std::string, TcPod, std::less<>> pods;              // by uid
  bool operator==(const TcState&) const = default;
};

// What NodeSLO asks of the interface.
TcBandwidth TcBandwidthOf(const api::NodeSloSpec& slo);

// Runs `run` unless `check` succeeds.
struct NetCommand {
  std::vector<std::string> run;
  std::vector<std::string> check = {};  // empty: always
  bool may_fail = false;
  bool operator==(const NetCommand&) const = default;
};

// From whatever is there.
std::vector<NetCommand> SetUpTc(const TcState& state);
// From a state that is known.
std::vector<NetCommand> ChangeTc(const TcState& from, const TcState& to);
// To what the node had before. Everything may be gone already.
std::vector<NetCommand> TearDownTc(std::string_view interface);

// The interface of the default route, from /proc/net/route.
StatusOr<std::string> DefaultInterface(std::string_view routes);

}  // namespace koord::koordlet::hooks
