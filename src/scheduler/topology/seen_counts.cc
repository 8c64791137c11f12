#include "scheduler/topology/seen_counts.h"

#include <algorithm>

namespace koord::scheduler {

void SeenCounts::Update(const PodIndex& pods, const PodQuery& query) {
  const bool absent_changed = absent_version_ != query.absent_version();
  const bool has_absent = !query.absent_pods().empty();
  ++version_;
  // Whether a domain has pods left besides those that are taken off is not followed.
  if (absent_changed || has_absent || counts_presence_ != counts_->presence_version()) {
    ++presence_version_;
  }
  counts_version_ = counts_->version();
  counts_presence_ = counts_->presence_version();
  absent_version_ = query.absent_version();
  seen_.clear();
  absent_ = 0;
  if (has_absent) TakeOff(pods, query);
}

void SeenCounts::TakeOff(const PodIndex& pods, const PodQuery& query) {
  seen_.assign(counts_->data(), counts_->data() + counts_->size());
  const LabelPtr& key = rule().key;
  for (const PodInfo* pod : query.absent_pods()) {
    if (!IsCounted(*pod, pod->row, pods)) continue;
    const size_t domain = key == nullptr ? pod->row : key->At(pod->row);
    if (key != nullptr && domain == kNoValue) continue;
    --seen_[domain];
    ++absent_;
  }
}

bool SeenCounts::IsCounted(const PodInfo& pod, NodeRow row, const PodIndex& pods) const {
  if (rule().skip_terminating && pod.terminating()) return false;
  return counts_->Counts(row) && pods.Matches(*counts_, *pod.shape);
}

int32_t SeenCounts::ChangeBy(const RowDelta& delta, NodeRow row, const PodIndex& pods,
                             const PodQuery& query) const {
  const auto is_counted = [&](const PodInfo* pod) { return IsCounted(*pod, row, pods); };
  const auto leaves = [&](const PodInfo* pod) { return !query.IsAbsent(*pod) && is_counted(pod); };
  return static_cast<int32_t>(std::ranges::count_if(delta.added, is_counted) -
                              std::ranges::count_if(delta.removed, leaves));
}

}  // namespace koord::scheduler
