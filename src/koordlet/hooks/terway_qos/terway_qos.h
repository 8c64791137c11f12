#pragma once
#include <optional>
#include <span>
#include <string>

#include "koordlet/hooks/engine/hook_plugin.h"
#include "koordlet/hooks/terway_qos/terway_files.h"

namespace koord::koordlet::hooks {

// The text of global_bps_config: bandwidths of the node and its classes. An error where NodeSLO
// asks for what the node does not have.
StatusOr<std::string> TerwayNodeConfig(const api::NodeSloSpec& slo);
// The text of pod.json: bandwidths and priorities of pods.
std::string TerwayPodConfig(const api::NodeSloSpec& slo, std::span<const ReconciledPod> pods,
                            bool trust_pod_authors);

// Tells the network plugin Terway how to share the bandwidth, through two files that it reads.
//
// Written only where NodeSLO picks this way of sharing; otherwise the files are removed.
class TerwayQos final : public HookPlugin {
 public:
  // Null: this node has no such directory, so nothing is done.
  TerwayQos(const HookEnv& env, TerwayFiles* files) : env_(env), files_(files) {}

  std::string_view name() const override { return "TerwayQoS"; }
  void OnPass(std::span<const ReconciledPod> pods) override;

 private:
  void Set(std::string_view file, std::optional<std::string> text,
           std::optional<std::optional<std::string>>& written);

  const HookEnv& env_;
  TerwayFiles* const files_;
  // What was written last; the inner one is none for a removed file, the outer one at the start.
  std::optional<std::optional<std::string>> node_config_;
  std::optional<std::optional<std::string>> pod_config_;
};

}  // namespace koord::koordlet::hooks
