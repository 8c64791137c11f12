#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "koordlet/hooks/engine/hook_plugin.h"
#include "koordlet/hooks/tc_network_qos/network_control.h"

namespace koord::koordlet::hooks {

// Shares the bandwidth of the node's network interface between classes of pods (tc).
//
// What leaves the node goes through one class for the system, one for latency-sensitive pods and
// one for best-effort pods, each with a guaranteed rate and a bound from NodeSLO. A pod that names
// a limit of its own has a class of its own, of no more than its class may use. Pods without a
// class are left alone. When NodeSLO picks another way, everything is taken away again.
class TcNetworkQos final : public HookPlugin {
 public:
  // Null: nobody can run commands on this node, so nothing is done.
  TcNetworkQos(const HookEnv& env, NetworkControl* control) : env_(env), control_(control) {}

  std::string_view name() const override { return "TCNetworkQoS"; }
  Status OnPod(HookStage stage, const HookPod& pod, PodResult& result) override;
  bool OnStateChange() override;
  void OnPass(std::span<const ReconciledPod> pods) override;

 private:
  bool IsActive() const { return bandwidth_ && bandwidth_->total > 0 && control_ != nullptr; }
  StatusOr<int64_t> OwnLimit(const HookPod& pod) const;  // bytes per second; 0: none
  uint32_t MinorOf(const std::string& uid);
  StatusOr<TcState> Desired(std::span<const ReconciledPod> pods);
  void AddPod(const HookPod& pod, TcState& state);
  void Apply(std::optional<TcState> desired);

  const HookEnv& env_;
  NetworkControl* const control_;
  std::optional<TcBandwidth> bandwidth_;  // none: another policy, or not known
  bool knows_policy_ = false;
  std::map<std::string, uint32_t, std::less<>> minors_;  // of pods with limits, by uid
  std::optional<TcState> applied_;                       // none: not known
  bool is_torn_down_ = false;
  bool is_running_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace koord::koordlet::hooks
