#include "koordlet/hooks/tc_network_qos/tc_network_qos.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "api/keys.h"
#include "api/koordlet_annotations.h"
#include "koordlet/hooks/engine/class_qos.h"

namespace koord::koordlet::hooks {
namespace {

bool IsIpv4(const std::string& text) {
  in_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

uint32_t HashOf(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace

bool TcNetworkQos::OnStateChange() {
  if (env_.state.slo() == nullptr) return false;
  std::optional<TcBandwidth> bandwidth;
  if (NetworkPolicyOf(*env_.state.slo()) == "tc") bandwidth = TcBandwidthOf(*env_.state.slo());
  if (knows_policy_ && bandwidth == bandwidth_) return false;
  knows_policy_ = true;
  bandwidth_ = bandwidth;
  return true;
}

StatusOr<int64_t> TcNetworkQos::OwnLimit(const HookPod& pod) const {
  ASSIGN_OR_RETURN(const auto limits, api::NetworkLimitsOf(pod.annotations));
  if (!limits || limits->egress <= 0) return 0;
  if (env_.options.trust.trust_pod_authors) return limits->egress;
  const uint32_t minor = TcMinorOf(pod.label_qos).value_or(kTcBeMinor);
  const TcRate& of_class = minor == kTcSystemMinor ? bandwidth_->system
                           : minor == kTcLsMinor   ? bandwidth_->ls
                                                   : bandwidth_->be;
  return std::min(limits->egress, of_class.ceil);
}

// The same for as long as the pod lives, and mostly also after a restart.
uint32_t TcNetworkQos::MinorOf(const std::string& uid) {
  if (const auto found = minors_.find(uid); found != minors_.end()) return found->second;
  constexpr uint32_t kCount = kTcLastPodMinor - kTcFirstPodMinor + 1;
  uint32_t offset = HashOf(uid) % kCount;
  const auto is_taken = [&] {
    return std::ranges::any_of(
        minors_, [&](const auto& entry) { return entry.second == kTcFirstPodMinor + offset; });
  };
  while (is_taken()) offset = (offset + 1) % kCount;
  return minors_[uid] = kTcFirstPodMinor + offset;
}

Status TcNetworkQos::OnPod(HookStage, const HookPod& pod, PodResult& result) {
  if (!knows_policy_ || control_ == nullptr) return absl::OkStatus();
  if (!IsActive()) {
    result.net_class = 0;
    return absl::OkStatus();
  }
  const std::optional<uint32_t> minor = TcMinorOf(pod.label_qos);
  if (!minor) return absl::OkStatus();
  const auto limit = OwnLimit(pod);
  result.net_class = NetClassOf(limit.ok() && *limit > 0 ? MinorOf(pod.uid) : *minor);
  return limit.status();
}

void TcNetworkQos::AddPod(const HookPod& pod, TcState& state) {
  const std::optional<uint32_t> minor = TcMinorOf(pod.label_qos);
  if (!minor) return;
  const auto limit = OwnLimit(pod);
  const bool uses_node = pod.object->spec.host_network;
  const std::string& ip = pod.object->status.pod_ip;
  if (limit.ok() && *limit > 0) {
    if (!uses_node && !IsIpv4(ip)) return;
    state.pods[pod.uid] = {
        .minor = MinorOf(pod.uid), .rate = *limit, .ip = uses_node ? std::string() : ip};
  } else if (!uses_node && IsIpv4(ip)) {  // the node's own address is everybody's
    state.ips[*minor].insert(ip);
  }
}

StatusOr<TcState> TcNetworkQos::Desired(std::span<const ReconciledPod> pods) {
  TcState state;
  ASSIGN_OR_RETURN(const std::string routes, env_.host.proc().Read("net/route"));
  ASSIGN_OR_RETURN(state.interface, DefaultInterface(routes));
  state.bandwidth = *bandwidth_;
  for (const ReconciledPod& pod : pods) AddPod(pod.pod, state);
  std::erase_if(minors_, [&](const auto& entry) { return !state.pods.contains(entry.first); });
  return state;
}

void TcNetworkQos::OnPass(std::span<const ReconciledPod> pods) {
  if (!knows_policy_ || control_ == nullptr || is_running_ || !env_.state.has_pods()) return;
  if (!IsActive()) {
    minors_.clear();
    if (!is_torn_down_) Apply(std::nullopt);
    return;
  }
  auto desired = Desired(pods);
  if (!desired.ok())
    return env_.problems.Report({.object = "node", .kind = name()}, desired.status());
  if (applied_ != *desired) Apply(*std::move(desired));
}

void TcNetworkQos::Apply(std::optional<TcState> desired) {
  std::vector<NetCommand> commands;
  if (!desired) {
    const auto routes = env_.host.proc().Read("net/route");
    const auto interface = routes.ok() ? DefaultInterface(*routes) : routes.status();
    if (!applied_ && !interface.ok()) return;
    commands = TearDownTc(applied_ ? applied_->interface : *interface);
  } else {
    commands = applied_ ? ChangeTc(*applied_, *desired) : SetUpTc(*desired);
  }
  is_running_ = true;
  control_->Run(std::move(commands), [this, alive = std::weak_ptr(alive_),
                                      desired = std::move(desired)](Status status) mutable {
    if (alive.expired()) return;
    is_running_ = false;
    is_torn_down_ = status.ok() && !desired;
    applied_ = status.ok() ? std::move(desired) : std::nullopt;
    env_.problems.Set({.object = "node", .kind = name()}, status);
  });
}

}  // namespace koord::koordlet::hooks
