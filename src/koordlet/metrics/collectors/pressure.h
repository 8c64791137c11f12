#pragma once
#include <array>

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
  struct Memory {
    std::array<KeptFile, 3> files;
  };
  using Pods = TrackedPods<Memory>;
  using Pressures = std::array<Pressure, 3>;  // of cpu, memory, I/O

  std::optional<Pressures> Read(Pods::Entry& entry);
  void Store(const Pods::Entry& entry, const Pressures& pressures);
  void Show(const Pods::Entry& entry, const Pressures& pressures);

  Pods pods_;
  std::string buffer_;
  bool has_synced_ = false;
  metrics::Gauges& pod_psi_;
  metrics::Gauges& container_psi_;
};

}  // namespace koord::koordlet
