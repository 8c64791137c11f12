#pragma once
#include "koordlet/metrics/collectors/collector.h"

namespace koord::koordlet {

// What neither pods nor host applications use: the node without them. Says nothing when one of
// these is too old, since the difference of different moments means nothing.
class SystemUsageCollector final : public Collector {
 public:
  explicit SystemUsageCollector(CollectorContext context) : Collector(context) {}

  std::string_view name() const override { return "system usage"; }
  void Collect() override;
  bool has_synced() const override { return has_synced_; }

 private:
  bool IsFresh(const UsageSum& sum) const;
  void CollectNuma(double system_cores);

  std::vector<std::string> numa_names_;
  bool has_synced_ = false;
};

}  // namespace koord::koordlet
