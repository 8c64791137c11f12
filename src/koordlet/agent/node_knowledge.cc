#include "koordlet/agent/node_knowledge.h"

#include <utility>

#include "base/log.h"
#include "koordlet/informers/node_slo_merge.h"

namespace koord::koordlet {
namespace {

// Many nodes have the same strategy. Where their koordlets run in one process they share it.
std::shared_ptr<const api::NodeSloSpec> SharedStrategy(api::NodeSloSpec spec) {
  thread_local std::weak_ptr<const api::NodeSloSpec> last;
  if (auto known = last.lock(); known != nullptr && *known == spec) return known;
  auto made = std::make_shared<const api::NodeSloSpec>(std::move(spec));
  last = made;
  return made;
}

}  // namespace

NodeKnowledge::NodeKnowledge(EventLoop& loop, const Sources& sources,
                             const KoordletOptions& options, metrics::Registry& registry,
                             uint64_t seed)
    : sources_(sources),
      options_(options),
      pods_(sources.layout, options.trust, &registry),
      bounds_timer_(loop) {
  if (sources_.kubelet != nullptr && !options_.pods_from_api_server) {
    pod_source_ = std::make_unique<PodSource>(
        loop, sources_.client, options_.node_name, *sources_.kubelet,
        options_.kubelet_sync_interval, [this](const PodList::Pods& pods) { SetPods(pods); }, seed);
  }
}

void NodeKnowledge::SetNode(std::shared_ptr<const kube::Node> node) {
  if (node == nullptr) return;  // it comes back, or nobody will ask us any more
  const bool asks_kubelet = !options_.pods_from_api_server || options_.ask_kubelet_config;
  if (sources_.kubelet != nullptr && asks_kubelet) {
    const Status found = sources_.kubelet->SetNode(*node);
    if (!found.ok()) LOG_ERROR("The kubelet cannot be reached", {"err", found});
    if (found.ok() && pod_source_ != nullptr) pod_source_->Start();
  }
  state_.SetNode(std::move(node));
}

// Without a NodeSLO there is no strategy at all; one that was deleted still holds.
void NodeKnowledge::SetSlo(const std::shared_ptr<const api::NodeSlo>& slo) {
  slo_known_ = true;
  if (slo == nullptr) return;
  state_.SetSlo(SharedStrategy(MergeNodeSlo(slo->spec, slo->metadata.name, slo_problems_)));
  UpdateBounds();
}

bool NodeKnowledge::complete() const {
  return state_.node() != nullptr && state_.has_pods() && slo_known_;
}

void NodeKnowledge::AskForPodsSoon() {
  if (pod_source_ != nullptr) pod_source_->SyncSoon();
}

void NodeKnowledge::KeepBounds() {
  UpdateBounds();
  bounds_timer_.Set(options_.topology_interval, [this] { KeepBounds(); });
}

void NodeKnowledge::UpdateBounds() {
  PodBounds bounds;
  bounds.node_name = options_.node_name;
  if (sources_.info.cpu() != nullptr) bounds.cpus = sources_.info.cpu()->topology.cpus();
  if (state_.topology() != nullptr) {
    bounds.kept_cpus = state_.topology()->KeptCpus();
    bounds.binds_all_pods = state_.topology()->binds_all_pods;
  }
  if (state_.slo() != nullptr && state_.slo()->cpu_burst_strategy) {
    bounds.cpu_burst = *state_.slo()->cpu_burst_strategy;
  }
  if (pods_.SetBounds(std::move(bounds)) && state_.has_pods()) state_.SetPods(pods_.Refresh());
}

void NodeKnowledge::Stop() {
  bounds_timer_.Cancel();
  if (pod_source_ != nullptr) pod_source_->Stop();
}

}  // namespace koord::koordlet
