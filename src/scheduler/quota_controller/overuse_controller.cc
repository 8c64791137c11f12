#include "scheduler/quota_controller/overuse_controller.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/log.h"
#include "kube/eviction/pod_eviction.h"
#include "model/quota/quota_admission.h"
#include "scheduler/quota_controller/overuse.h"

namespace koord::scheduler {
namespace {

constexpr Duration kShortestPause = 10ms;  // an interval of 0 is "all the time"

}  // namespace

OverUseController::OverUseController(const PluginContext& context, const ElasticQuotaArgs& args)
    : context_(context), book_(context.books.quotas), args_(args), timer_(context.loop) {}

void OverUseController::AddTo(const PluginContext& context, const ElasticQuotaArgs& args) {
  context.leader_parts->Add(
      std::unique_ptr<OverUseController>(new OverUseController(context, args)));
}

void OverUseController::Start() {
  running_ = true;
  over_since_.clear();
  Look();
}

void OverUseController::Stop(Task done) {
  running_ = false;
  timer_.Cancel();
  when_stopped_ = std::move(done);
  Done();
}

void OverUseController::Done() {
  if (running_ || under_way_ != 0 || !when_stopped_) return;
  std::exchange(when_stopped_, nullptr)();
}

bool OverUseController::IsOver(const model::Quota& quota) const {
  const model::QuotaTree& tree = book_.tree();
  const auto& used = tree.Current(quota).used;
  return !model::Exceeded(used, tree.RuntimeOf(quota)).empty();
}

void OverUseController::Look() {
  timer_.Set(std::max(args_.revoke_pod_interval, kShortestPause), [this] { Look(); });
  const SteadyTime now = context_.loop.clock().Steady();
  StringMap<SteadyTime> over_since;
  for (const auto& [name, quota] : book_.tree().quotas()) {
    if (name == api::kSystemQuota || !IsOver(*quota)) continue;
    const auto known = over_since_.find(name);
    SteadyTime since = known == over_since_.end() ? now : known->second;
    if (now - since > args_.delay_evict_time) {
      Revoke(*quota);
      since = now;
    }
    over_since.emplace(name, since);
  }
  over_since_ = std::move(over_since);
}

void OverUseController::Revoke(const model::Quota& quota) {
  for (const PodInfo* pod : OverUseVictims(book_, quota)) {
    if (!pod->assumed) Evict(*pod->pod, quota.name());
  }
}

void OverUseController::Evict(const kube::Pod& pod, const std::string& quota) {
  const std::string key = KeyOf(pod.metadata).ToString();
  LOG_INFO("Evicting a pod of a quota that uses more than its runtime", {"pod", key},
           {"quota", quota});
  ++under_way_;
  kube::EvictPod(*context_.client, pod.metadata, {},
                 scope_.Wrap([this, key](const kube::EvictionResult& result) {
                   --under_way_;
                   if (!result.leaves()) {
                     LOG_WARNING("Could not evict a pod of a quota that uses too much",
                                 {"pod", key}, {"err", result.status});
                   }
                   Done();
                 }));
}

}  // namespace koord::scheduler
