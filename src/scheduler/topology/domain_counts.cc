#include "scheduler/topology/domain_counts.h"

#include <algorithm>

#include "scheduler/topology/pod_index.h"

namespace koord::scheduler {

void DomainCounts::Put(NodeRow row, int32_t by) {
  const size_t domain = rule_.key == nullptr ? row : rule_.key->At(row);
  if (rule_.key != nullptr ? domain == kNoValue : row >= counts_.size()) return;
  if (!Counts(row)) return;
  const bool had = counts_[domain] != 0;
  counts_[domain] += by;
  total_ += by;
  ++version_;
  if (had != (counts_[domain] != 0)) ++presence_version_;
}

void DomainCounts::Add(NodeRow row, int32_t pods, int32_t terminating) {
  if (topology_version_ != nodes_.topology_version()) return;  // counted again later
  const int32_t by = rule_.skip_terminating ? pods - terminating : pods;
  if (by != 0) Put(row, by);
}

void DomainCounts::Rebuild() {
  topology_version_ = nodes_.topology_version();
  if (rule_.rows != nullptr) rule_.rows->Refresh();
  counts_.assign(rule_.key == nullptr ? nodes_.rows() : rule_.key->values(), 0);
  total_ = 0;
  for (const auto& [row, pods] : pods_.rows()) Add(row, pods.all, pods.terminating);
  if (rule_.key != nullptr) FindDomains();
  ++version_;
  ++presence_version_;
}

void DomainCounts::FindDomains() {
  domains_.assign(counts_.size(), 0);
  const ValueId* ids = rule_.key->data();
  const uint8_t* rows = rule_.rows == nullptr ? nodes_.live() : rule_.rows->data();
  for (size_t row = 0; row < nodes_.rows(); ++row) domains_[ids[row]] |= rows[row];
  domains_[kNoValue] = 0;
  domain_count_ = static_cast<int32_t>(std::ranges::count(domains_, 1));
}

}  // namespace koord::scheduler
