#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/cluster/pod_info.h"
#include "scheduler/framework/pod_query.h"
#include "scheduler/framework/row_view.h"
#include "scheduler/topology/pod_index.h"

namespace koord::scheduler {

// The counts of a topology as pods of one shape see them: without the pods that are not there for
// them (PodQuery::absent_pods). For nearly all shapes these are the counts themselves.
class SeenCounts {
 public:
  explicit SeenCounts(std::shared_ptr<DomainCounts> counts) : counts_(std::move(counts)) {}

  // Before anything is read. Mostly nothing has changed, and that is found out for each row.
  void Refresh(const PodIndex& pods, const PodQuery& query) {
    counts_->Refresh();
    if (counts_version_ != counts_->version() || absent_version_ != query.absent_version()) {
      Update(pods, query);
    }
  }

  const int32_t* data() const { return seen_.empty() ? counts_->data() : seen_.data(); }
  size_t size() const { return counts_->size(); }
  int32_t Of(size_t domain) const { return domain < size() ? data()[domain] : 0; }
  int64_t total() const { return counts_->total() - absent_; }

  uint64_t version() const { return version_; }  // moves with every count
  // Moves at least when a domain gets its first pod or loses its last.
  uint64_t presence_version() const { return presence_version_; }

  const DomainCounts& all() const { return *counts_; }
  const CountingRule& rule() const { return counts_->rule(); }

  // By how many pods a delta of the row changes the count of its domain. Pods that are not there
  // anyway do not leave.
  int32_t ChangeBy(const RowDelta* delta, NodeRow row, const PodIndex& pods,
                   const PodQuery& query) const {
    return delta == nullptr ? 0 : ChangeBy(*delta, row, pods, query);
  }

 private:
  void Update(const PodIndex& pods, const PodQuery& query);
  int32_t ChangeBy(const RowDelta& delta, NodeRow row, const PodIndex& pods,
                   const PodQuery& query) const;
  bool IsCounted(const PodInfo& pod, NodeRow row, const PodIndex& pods) const;
  void TakeOff(const PodIndex& pods, const PodQuery& query);

  std::shared_ptr<DomainCounts> counts_;
  std::vector<int32_t> seen_;  // empty: as counts_ says
  int64_t absent_ = 0;         // pods that were taken off
  // What it was made of.
  uint64_t counts_version_ = 0;
  uint64_t counts_presence_ = 0;
  uint64_t absent_version_ = 0;
  uint64_t version_ = 0;
  uint64_t presence_version_ = 0;
};

}  // namespace koord::scheduler
