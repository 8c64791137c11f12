#pragma once
#include <vector>

#include "model/quota/quota_admission.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/preemption/preemption_rules.h"

namespace koord::scheduler {

// Whom a pod may evict that its quota has no room for, or that fits nowhere: less important pods of
// its own quota, unless they say that they may not be preempted. Each of them is spared that the
// quota has room for beside the pod.
//
// Nobody is evicted where the pod would not fit its quota though all of them went.
class QuotaEvictionRules final : public PreemptionRules {
 public:
  QuotaEvictionRules(const PluginContext& context, const model::AdmissionRules& rules,
                     bool spare_default_quota)
      : context_(context),
        book_(context.books.quotas),
        rules_(rules),
        spare_default_quota_(spare_default_quota),
        reprieve_(*this) {}

  // From now on for this pod. False: there is nobody whom it may evict.
  bool Begin(const kube::Pod& preemptor);

  std::vector<NodeRow> RowsToTry(const Diagnosis& diagnosis) const override;
  bool MayBeEvicted(const PodInfo& pod) const override;
  bool IsChoosy(const PodShape&) const override { return true; }
  bool MayEvict(const PodShape& preemptor, const PodInfo& victim) const override;
  ReprieveTest* TestFor(const PodShape& preemptor) override;
  uint64_t VersionFor(const PodShape&) const override { return book_.tree().version(); }

 private:
  class Reprieve final : public ReprieveTest {
   public:
    explicit Reprieve(QuotaEvictionRules& rules) : rules_(rules) {}
    void Begin() override {
      without_.amounts.clear();
      without_.non_preemptible.clear();
    }
    void Remove(const PodInfo& victim) override { Add(victim, -1); }
    bool GiveBack(const PodInfo& victim) override;

   private:
    void Add(const PodInfo& victim, int sign);

    QuotaEvictionRules& rules_;
    model::QuotaUse without_;  // those that are gone
  };

  bool FitsWith(const model::QuotaUse& use) const;
  // Those whom the pod may evict.
  std::vector<const PodInfo*> Victims() const;

  const PluginContext context_;
  const QuotaBook& book_;
  const model::AdmissionRules rules_;
  const bool spare_default_quota_;
  Reprieve reprieve_;
  // Of the preemptor.
  const model::Quota* quota_ = nullptr;
  model::QuotaCharge charge_;
  int32_t priority_ = 0;
};

}  // namespace koord::scheduler
