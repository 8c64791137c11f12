#include "scheduler/quota_controller/overuse.h"

#include <algorithm>

#include "api/elastic_quota.h"
#include "model/quota/quota_admission.h"
#include "scheduler/preemption/victim_lists.h"

namespace koord::scheduler {
namespace {

std::vector<const PodInfo*> LeastImportantFirst(const QuotaBook& book, const model::Quota& quota) {
  std::vector<const PodInfo*> pods;
  for (const auto& [priority, of_priority] : book.AssignedTo(quota)) {
    pods.insert(pods.end(), of_priority.begin(), of_priority.end());
  }
  std::ranges::sort(pods, [](const PodInfo* a, const PodInfo* b) {
    if (IsMoreImportant(*a, *b) != IsMoreImportant(*b, *a)) return IsMoreImportant(*b, *a);
    return a->uid() < b->uid();
  });
  return pods;
}

}  // namespace

std::vector<const PodInfo*> OverUseVictims(const QuotaBook& book, const model::Quota& quota) {
  const model::QuotaTree& tree = book.tree();
  const model::QuotaAmounts runtime = tree.RuntimeOf(quota);
  model::QuotaAmounts used = tree.Current(quota).used;
  const auto is_over = [&] { return !model::Exceeded(used, runtime).empty(); };
  const auto add = [&](const PodInfo& pod, int sign) {
    model::AddTo(used, book.ChargeOf(pod, quota).amounts, sign);
  };
  std::vector<const PodInfo*> candidates;
  for (const PodInfo* pod : LeastImportantFirst(book, quota)) {
    if (!is_over()) break;
    if (!api::IsPreemptibleInQuota(pod->pod->metadata.labels) || pod->terminating()) continue;
    add(*pod, -1);
    candidates.push_back(pod);
  }
  if (is_over()) return candidates;
  std::vector<const PodInfo*> victims;
  for (auto pod = candidates.rbegin(); pod != candidates.rend(); ++pod) {
    add(**pod, 1);
    if (!is_over()) continue;
    add(**pod, -1);
    victims.push_back(*pod);
  }
  return victims;
}

}  // namespace koord::scheduler
