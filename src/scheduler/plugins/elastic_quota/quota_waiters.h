#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "base/string_map.h"
#include "model/quota/quota_admission.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// The pods that their quota has no room for, and who of them is to be tried again.
//
// Whatever may give some quota room (a pod that goes, a node that comes, a quota that changes,
// siblings that ask for less) has the pods that wait looked at once, in the same turn of the loop:
// those that there is room for now are made active, the most important of each quota first and no
// more of them than there is room for. So nobody is woken in vain, and nobody is left waiting.
class QuotaWaiters final : private PodListener {
 public:
  QuotaWaiters(const PluginContext& context, const model::AdmissionRules& rules);

  // Its quota has refused it.
  void Add(const PodPtr& pod);
  // It does not wait for its quota.
  void Remove(std::string_view uid);
  size_t size() const { return waiters_.size(); }

 private:
  // Those that are woken first come first.
  using Order = std::tuple<int64_t, uint64_t, std::string>;  // -priority, when it came, uid
  // Pods that ask the same of the same quota.
  struct Class {
    model::QuotaCharge charge;
    std::set<Order> pods;
  };
  struct Group {
    std::vector<Class> classes;
  };
  struct Waiter {
    PodPtr pod;
    uint64_t number = 0;
    const model::Quota* quota = nullptr;  // the group that it is in
    Order order;
  };

  void OnPodPending(const PodPtr& before, const PodPtr& after) override;
  void OnPodBound(const PodPtr& before, const PodPtr& after) override;
  void OnPodGone(const PodPtr& last) override { Remove(last->metadata.uid); }

  void Enter(const std::string& uid, Waiter& waiter);
  void Leave(const Waiter& waiter);
  void RegroupIfMoved();
  void LookSoon();
  void Look();
  // Takes those that there is room for. True: others have to wait until these are placed.
  bool TakeFrom(const model::Quota& quota, Group& group, std::vector<std::string>& woken);

  const PluginContext context_;
  QuotaBook& book_;
  const model::AdmissionRules rules_;
  uint64_t next_number_ = 0;
  uint64_t structure_ = 0;     // that the groups were made by
  StringMap<Waiter> waiters_;  // by uid
  absl::flat_hash_map<const model::Quota*, Group> groups_;
  bool is_posted_ = false;
  Timer look_again_;
  Scope scope_;
};

}  // namespace koord::scheduler
