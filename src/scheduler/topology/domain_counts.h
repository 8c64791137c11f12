#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/cluster/node_table.h"
#include "scheduler/topology/row_set.h"

namespace koord::scheduler {

class PodCounter;

// How pods are counted.
struct CountingRule {
  LabelPtr key;                   // by its values; null: every row by itself
  std::shared_ptr<RowSet> rows;   // of these only; null: of all
  bool skip_terminating = false;  // pods that are being deleted do not count

  bool operator==(const CountingRule&) const = default;
};

// How many pods of one kind each domain of a topology holds. Follows pods as they come and go; when
// nodes have changed it is counted again.
class DomainCounts {
 public:
  DomainCounts(const NodeTable& nodes, const PodCounter& pods, CountingRule rule)
      : nodes_(nodes), pods_(pods), rule_(std::move(rule)) {}

  // Before anything is read.
  void Refresh() {
    if (topology_version_ != nodes_.topology_version()) Rebuild();
    // Rows without a node come without further notice.
    if (rule_.key == nullptr && counts_.size() < nodes_.rows()) counts_.resize(nodes_.rows(), 0);
  }

  // By value of the key (0 for the rows without it), or by row.
  const int32_t* data() const { return counts_.data(); }
  size_t size() const { return counts_.size(); }
  int32_t Of(size_t domain) const { return domain < counts_.size() ? counts_[domain] : 0; }
  int64_t total() const { return total_; }

  // Whether any row that counts has this value.
  const std::vector<uint8_t>& domains() const { return domains_; }
  int32_t domain_count() const { return domain_count_; }
  bool Counts(NodeRow row) const { return rule_.rows == nullptr || rule_.rows->Has(row); }

  uint64_t version() const { return version_; }  // moves with every count
  // Moves when a domain gets its first pod or loses its last.
  uint64_t presence_version() const { return presence_version_; }

  const PodCounter& pods() const { return pods_; }
  const CountingRule& rule() const { return rule_; }

  void Add(NodeRow row, int32_t pods, int32_t terminating);  // by the counter

 private:
  void Rebuild();
  void FindDomains();
  void Put(NodeRow row, int32_t by);

  const NodeTable& nodes_;
  const PodCounter& pods_;
  const CountingRule rule_;
  uint64_t topology_version_ = 0;
  std::vector<int32_t> counts_;
  std::vector<uint8_t> domains_;
  int32_t domain_count_ = 0;
  int64_t total_ = 0;
  uint64_t version_ = 0;
  uint64_t presence_version_ = 0;
};

}  // namespace koord::scheduler
