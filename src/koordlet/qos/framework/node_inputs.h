#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/milli_cpu.h"
#include "koordlet/informers/node_state.h"

// What strategies ask of the node's state.
namespace koord::koordlet {

// Whether best-effort pods are to be throttled and evicted at all. Unknown while nobody has said so
// either way: then nothing is done, and nothing is taken back.
enum class ThresholdSwitch : uint8_t { kUnknown, kOff, kOn };
ThresholdSwitch ThresholdSwitchOf(const NodeState& state);

// All of the node's state that decides what is written, as one value: while it stays the same, what
// was worked out from it holds.
struct NodeInputs {
  std::shared_ptr<const kube::Node> node;
  std::shared_ptr<const api::NodeSloSpec> slo;
  std::shared_ptr<const NodePods> pods;

  static NodeInputs Of(const NodeState& state) { return {state.node(), state.slo(), state.pods()}; }
  bool operator==(const NodeInputs&) const = default;  // the same objects
};

// None where it is not listed.
std::optional<MilliCpu> CpuOf(const kube::ResourceList& resources);
std::optional<int64_t> ValueOf(const kube::ResourceList& resources, std::string_view name);

std::string NameOf(const NodePod& pod);  // "namespace/name"

}  // namespace koord::koordlet
