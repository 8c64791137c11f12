#pragma once
#include "koordlet/informers/tracked_pods.h"
#include "koordlet/metrics/collectors/collector.h"

namespace koord::koordlet {

// Bytes of file cache that have not been touched for long, from the table that kidled keeps.
StatusOr<int64_t> ParseColdBytes(std::string_view text);

// Page cache that nobody has used lately (kidled of Anolis kernels), and so how much memory is in
// use with the part of the cache that is hot.
class ColdMemoryCollector final : public Collector {
 public:
  explicit ColdMemoryCollector(CollectorContext context) : Collector(context) {}

  std::string_view name() const override { return "cold memory"; }
  bool enabled() const override { return context_.gates.Enabled("ColdPageCollector"); }
  Duration interval() const override { return context_.options.cold_page_interval; }
  void Collect() override;
  bool has_synced() const override { return has_synced_; }

 private:
  struct Memory {
    KeptFile cold;
    KeptFile stat;
  };
  using Pods = TrackedPods<Memory>;

  bool SwitchOn();
  void CollectNode();
  void CollectOne(Pods::Entry& entry);

  KeptFile node_cold_;
  KeptPath meminfo_{"meminfo"};
  Pods pods_;
  std::string buffer_;
  bool has_synced_ = false;
};

}  // namespace koord::koordlet
