#pragma once
#include <array>
#include <optional>
#include <vector>

#include "koordlet/metrics/collectors/collector.h"
#include "koordlet/metrics/collectors/tracked_pods.h"

namespace koord::koordlet {

// For how much of the time tasks of pods and containers had to wait for CPU, memory or I/O (PSI).
class PressureCollector final : public Collector {
 public:
  explicit PressureCollector(CollectorContext context);

  std::string_view name() const override { return "pressure"; }
  bool enabled() const override { return context_.gates.Enabled("PSICollector"); }
  Duration interval() const override { return context_.options.psi_interval; }
  void Collect() override;
  bool has_synced() const override { return has_synced_; }

 private:
  // Of the three kinds: some and full, each over three spans of time.
  static constexpr size_t kGauges = 18;
  struct Memory {
    std::array<KeptFile, 3> files;
    std::array<metrics::Gauge*, kGauges> gauges{};  // null where there is none yet
    bool full_supported = false;                    // as the gauges say
  };
  using Pods = TrackedPods<Memory>;
  using Pressures = std::array<Pressure, 3>;  // of cpu, memory, I/O

  std::optional<Pressures> Read(Pods::Entry& entry);
  void Store(const Pods::Entry& entry, const Pressures& pressures);
  void Show(Pods::Entry& entry, const Pressures& pressures);
  metrics::Gauge& GaugeOf(const Pods::Entry& entry, std::string_view kind,
                          std::string_view precision, std::string_view degree);
  void ForgetGauges();

  Pods pods_;
  std::vector<std::optional<Pressures>> readings_;  // of the pass, in the order of pods_
  std::string buffer_;
  bool has_synced_ = false;
  metrics::Gauges& pod_psi_;
  metrics::Gauges& container_psi_;
};

}  // namespace koord::koordlet
