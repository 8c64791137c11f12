#include "koordlet/informers/node_state.h"

#include <utility>

namespace koord::koordlet {
namespace {

template <class T>
bool Same(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

bool SameForUs(const std::shared_ptr<const kube::Node>& a,
               const std::shared_ptr<const kube::Node>& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->metadata.labels == b->metadata.labels &&
         a->metadata.annotations == b->metadata.annotations &&
         a->status.capacity == b->status.capacity && a->status.allocatable == b->status.allocatable;
}

}  // namespace

CpuSet TopologyView::KeptCpus() const {
  const CpuSet kept = reserved_cpus | kubelet_cpus;
  return system_qos_exclusive ? kept | system_qos_cpus : kept;
}

NodeState::NodeState() : pods_(std::make_shared<const NodePods>()) {}

void NodeState::SetNode(std::shared_ptr<const kube::Node> node) {
  const bool same = SameForUs(node_, node);
  node_ = std::move(node);
  if (!same) Tell(Part::kNode);
}

void NodeState::SetSlo(std::shared_ptr<const api::NodeSloSpec> slo) {
  const bool same = Same(slo_, slo);
  slo_ = std::move(slo);
  if (!same) Tell(Part::kSlo);
}

void NodeState::SetTopology(std::shared_ptr<const TopologyView> topology) {
  const bool same = Same(topology_, topology);
  topology_ = std::move(topology);
  if (!same) Tell(Part::kTopology);
}

void NodeState::SetPods(std::shared_ptr<const NodePods> pods) {
  pods_ = std::move(pods);
  has_pods_ = true;
  Tell(Part::kPods);
}

void NodeState::Subscribe(Part part, Listener listener) {
  listeners_.emplace_back(part, std::move(listener));
}

void NodeState::Tell(Part part) {
  for (const auto& [of, listener] : listeners_) {
    if (of == part) listener();
  }
}

}  // namespace koord::koordlet
