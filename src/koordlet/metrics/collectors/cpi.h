#pragma once
#include <memory>
#include <vector>

#include "koordlet/informers/tracked_pods.h"
#include "koordlet/metrics/collectors/collector.h"

namespace koord::koordlet {

// Cycles and instructions of every container during a short window of each round: how much work a
// CPU got done. A container needs two counters on every CPU, so only as many are counted at a time
// as a process may have files open; the others have their window right after.
class CpiCollector final : public Collector {
 public:
  explicit CpiCollector(CollectorContext context);

  std::string_view name() const override { return "CPI"; }
  bool enabled() const override { return context_.gates.Enabled("CPICollector"); }
  Duration interval() const override { return context_.options.cpi_interval; }
  void Collect() override;
  bool has_synced() const override { return has_synced_; }

 private:
  static constexpr size_t kMaxCountersOnCpus = 8192;

  struct Memory {
    std::unique_ptr<Kernel::CpiCounter> counter;
    std::optional<Kernel::CpiCount> count;  // of the last window
  };
  using Pods = TrackedPods<Memory>;

  void StartWindow();
  void FinishWindow();
  void Show();

  Pods pods_;
  size_t next_ = 0;  // of the entries, in this round
  bool is_supported_ = true;
  bool has_synced_ = false;
  metrics::Gauges& cpi_;
  Timer window_;
};

}  // namespace koord::koordlet
