#include "scheduler/plugins/elastic_quota/quota_eviction_rules.h"

#include <algorithm>
#include <set>

#include "api/elastic_quota.h"

namespace koord::scheduler {

bool QuotaEvictionRules::Begin(const kube::Pod& preemptor) {
  quota_ = book_.QuotaOf(preemptor);
  if (quota_ == nullptr) return false;
  if (spare_default_quota_ && quota_->name() == api::kDefaultQuota) return false;
  charge_ = book_.ChargeOf(preemptor, *quota_);
  priority_ = preemptor.spec.priority.value_or(0);
  const QuotaBook::AssignedPods& pods = book_.AssignedTo(*quota_);
  return !pods.empty() && pods.begin()->first < priority_;
}

std::vector<const PodInfo*> QuotaEvictionRules::Victims() const {
  std::vector<const PodInfo*> victims;
  for (const auto& [priority, pods] : book_.AssignedTo(*quota_)) {
    if (priority >= priority_) break;
    for (const PodInfo* pod : pods) {
      if (MayBeEvicted(*pod)) victims.push_back(pod);
    }
  }
  return victims;
}

bool QuotaEvictionRules::FitsWith(const model::QuotaUse& use) const {
  return !model::CheckAdmission(book_.tree(), *quota_, charge_, rules_, use);
}

std::vector<NodeRow> QuotaEvictionRules::RowsToTry(const Diagnosis& diagnosis) const {
  model::QuotaUse without;
  std::set<NodeRow> rows;
  for (const PodInfo* victim : Victims()) {
    model::AddTo(without.amounts, book_.ChargeOf(*victim, *quota_).amounts, -1);
    if (victim->row != kNoRow) rows.insert(victim->row);
  }
  if (!FitsWith(without)) return {};
  // Where the quota has refused the pod nothing is known of any node: all may do.
  if (!diagnosis.pre_filter.rejected()) {
    std::vector<NodeRow> curable = PreemptionRules::RowsToTry(diagnosis);
    std::erase_if(curable, [&](NodeRow row) { return !rows.contains(row); });
    return curable;
  }
  return {rows.begin(), rows.end()};
}

bool QuotaEvictionRules::MayBeEvicted(const PodInfo& pod) const {
  return PreemptionRules::MayBeEvicted(pod) && api::IsPreemptibleInQuota(pod.pod->metadata.labels);
}

bool QuotaEvictionRules::MayEvict(const PodShape& preemptor, const PodInfo& victim) const {
  return book_.QuotaOf(*victim.pod) == book_.QuotaOf(*preemptor.sample);
}

ReprieveTest* QuotaEvictionRules::TestFor(const PodShape&) { return &reprieve_; }

void QuotaEvictionRules::Reprieve::Add(const PodInfo& victim, int sign) {
  model::AddTo(without_.amounts, rules_.book_.ChargeOf(victim, *rules_.quota_).amounts, sign);
}

bool QuotaEvictionRules::Reprieve::GiveBack(const PodInfo& victim) {
  Add(victim, 1);
  if (rules_.FitsWith(without_)) return true;
  Add(victim, -1);
  return false;
}

}  // namespace koord::scheduler
