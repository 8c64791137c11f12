#pragma once
#include <absl/container/flat_hash_set.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/elastic_quota.h"
#include "base/event_loop.h"
#include "base/string_map.h"
#include "model/quota/quota_admission.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/cluster/object_cache.h"
#include "scheduler/cluster/pending_pods.h"

namespace koord::scheduler {

// The tree of quotas with everything that is charged to it: what all pods of the cluster request,
// whoever schedules them, and what those use that have a node. Facts only: who may run is for
// others to decide.
//
// Nothing is remembered of single pods. What a pod is charged follows from the pod and from the
// quotas as they are; when quotas come, go or are about other resources, all pods are charged
// anew, at once and before anybody asks. So a pod whose quota has gone is charged to whichever
// quota it belongs to now, and the sums always equal those of a book that was filled from lists.
//
// Reservations are not charged: the pods that use them are.
class QuotaBook final : private LedgerListener, private PodListener {
 public:
  // Of pods that are being deleted.
  enum class Terminating : uint8_t {
    kCount,            // until they are gone
    kCountUntilGrace,  // until their time to end is over
    kIgnore,
  };
  struct Options {
    model::QuotaTreeOptions tree;
    bool no_default = false;  // pods without label belong to no quota
    bool ignore_overhead = false;
    Terminating terminating = Terminating::kCount;
    // Whether AssignedTo knows of the pods of built-in quotas, too: those are most of all.
    bool index_built_in = false;
    // Of the built-in quotas, as long as there are no objects that say otherwise.
    kube::ResourceList default_max = {}, system_max = {};
  };
  struct Sources {
    ObjectCache<api::ElasticQuota>& quotas;
    EventLoop& loop;
    PendingPods* pending;  // null: nobody tells of pods without a node
  };

  explicit QuotaBook(Ledger& ledger);
  QuotaBook(const QuotaBook&) = delete;
  QuotaBook& operator=(const QuotaBook&) = delete;
  ~QuotaBook() override;

  // From now on it is kept. What the first profile with quotas says counts for all: there is one
  // tree.
  void Open(const Options& options, const Sources& sources);
  bool is_open() const { return state_ != nullptr; }

  // All of the following needs an open book.

  const model::QuotaTree& tree() const;
  const Options& options() const;
  // Moves whenever a pod may be charged to another quota, or for other resources.
  uint64_t structure() const;
  // The quota that a pod is charged to; null: none. Good until structure() moves.
  const model::Quota* QuotaOf(const kube::Pod& pod) const;
  // What a pod asks of its quota, by its spec.
  model::QuotaCharge ChargeOf(const kube::Pod& pod, const model::Quota& quota) const;
  // What a pod with a node is charged.
  model::QuotaCharge ChargeOf(const PodInfo& pod, const model::Quota& quota) const;

  // The pods of a quota that have a node and count, by priority; each in no order.
  using AssignedPods = std::map<int32_t, absl::flat_hash_set<const PodInfo*>>;
  const AssignedPods& AssignedTo(const model::Quota& quota) const;
  // In no order; without those that are ignored since they are being deleted.
  void ForEachAssigned(const std::function<void(const PodInfo&, const model::Quota&)>& visit) const;
  void ForEachPending(
      const std::function<void(const kube::Pod&, const model::Quota&)>& visit) const;

  using QuotaPtr = ObjectCache<api::ElasticQuota>::Ptr;
  // The object that a quota is made of; null: none, or a built-in one without object.
  QuotaPtr ObjectOf(std::string_view name) const;
  // Why a quota does not count, or not as it says; "" if all is well. By its object: names count
  // across namespaces.
  std::string ProblemOf(const api::ElasticQuota& quota) const;

  // `changed` runs after every change that may give some quota more room. It must not ask anything
  // of the book, but do so later.
  void OnChange(std::function<void()> changed) { on_change_.push_back(std::move(changed)); }

 private:
  struct State;

  void OnNodeAdded(NodeRow row) override;
  void OnNodeChanged(NodeRow row, const NodeChanges& changes) override;
  void OnNodeRemoved(NodeRow row) override;
  void OnPodAdded(const PodInfo& pod) override { Assign(pod); }
  void OnPodRefreshed(const PodInfo& pod) override;
  void OnPodRemoved(const PodInfo& pod) override { Unassign(pod); }
  void OnPodSetAside(const PodInfo& pod) override { Assign(pod); }
  void OnPodTakenBack(const PodInfo& pod) override { Unassign(pod); }
  void OnPodPending(const PodPtr& before, const PodPtr& after) override;
  void OnPodBound(const PodPtr& before, const PodPtr& after) override;
  void OnPodGone(const PodPtr& last) override;

  void OnQuota(const QuotaPtr& before, const QuotaPtr& after);
  void SetQuota(const std::string& name);
  model::QuotaInfo InfoFor(const std::string& name, const QuotaPtr& object) const;
  void SetTotal(NodeRow row, std::shared_ptr<const kube::Node> node);

  // Everything is charged, and the totals are known.
  void Refresh() const;
  void ChargeAll();
  void ChargeDeferred();

  void Assign(const PodInfo& pod);
  void Unassign(const PodInfo& pod);
  bool IsPending(std::string_view uid) const;
  model::Quota* Find(const kube::Pod& pod) const;
  enum class Side : uint8_t { kRequest, kUsed, kBoth };
  void Charge(const PodInfo& pod, Side side, int sign);
  void ChargePending(const kube::Pod& pod, int sign);
  void Add(model::Quota& quota, const model::QuotaCharge& charge, Side side, int sign);
  void Index(const PodInfo& pod, const model::Quota& quota, int sign);

  // Whether a pod that is to be charged counts; looks at it again when its time is over.
  // `is_charged`: part of it has been charged.
  bool Counts(const kube::Pod& pod, bool is_charged);
  bool IsIgnored(const kube::Pod& pod) const;
  void Ignore(const std::string& uid);
  void IgnoreThoseDue();
  void Tell();

  Ledger& ledger_;
  std::unique_ptr<State> state_;
  std::vector<std::function<void()>> on_change_;
};

}  // namespace koord::scheduler
