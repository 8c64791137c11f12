#include "scheduler/cycle/runtime.h"

namespace koord::scheduler {

void Runtime::Set(std::unique_ptr<PluginLineup> plugins, std::unique_ptr<Pipeline> pipeline,
                  std::unique_ptr<BindingCycle> binding) {
  plugins_ = std::move(plugins);
  pipeline_ = std::move(pipeline);
  binding_ = std::move(binding);
}

RowVerdict Runtime::CheckRow(PodQuery& query, const RowView& row) {
  return pipeline_->QueryFor(query.shared_shape()).Check(row, current_uid_);
}

const RowNeeds* Runtime::NeedsOf(PodQuery& query) {
  return pipeline_->QueryFor(query.shared_shape()).Needs(current_uid_);
}

uint64_t Runtime::RowsVersion(PodQuery& query) {
  return pipeline_->QueryFor(query.shared_shape()).RowsVersion();
}

void Runtime::Preempt(const Attempt& preemptor, const std::string& node,
                      std::vector<std::shared_ptr<const kube::Pod>> victims, PreemptDone done) {
  shared_.observer->OnPreempted(victims.size());
  // A victim that only waits for its permit need not be deleted.
  std::erase_if(victims, [&](const auto& victim) {
    return Reject(victim->metadata.uid, preemptor.profile, "preempted", PromiseAfter::kNothing);
  });
  evictor_.Evict(*preemptor.pod, node, victims, preemptor.profile, std::move(done));
}

void Runtime::ForEachWaiting(const std::function<void(const Attempt&)>& visit) {
  shared_.waiting.ForEach(visit);
}

bool Runtime::Allow(std::string_view uid, std::string_view plugin) {
  return shared_.waiting.Allow(uid, plugin);
}

bool Runtime::Reject(std::string_view uid, std::string_view plugin, std::string reason,
                     PromiseAfter promise) {
  return shared_.waiting.Reject(uid, plugin, std::move(reason), promise);
}

void Runtime::Activate(const std::vector<kube::ObjectKey>& pods) { shared_.queue->Activate(pods); }

std::vector<std::shared_ptr<const kube::Pod>> Runtime::NominatedTo(std::string_view node) {
  const auto pods = shared_.nominations.On(node);
  return {pods.begin(), pods.end()};
}

void Runtime::ClearNomination(const kube::Pod& pod) {
  if (shared_.nominations.Revoke(pod)) reporter_.Nominate(pod, "");
}

std::string Runtime::NominatedNodeOf(const kube::Pod& pod) {
  return std::string(shared_.nominations.NodeOf(pod.metadata.uid));
}

}  // namespace koord::scheduler
