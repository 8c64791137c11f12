#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "koordlet/informers/tracked_pods.h"
#include "koordlet/metrics/collectors/collector.h"

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
  using Pressures = std::array<Pressure, 3>;  // of cpu, memory, I/O
  using Labels = std::span<const std::string_view>;

  // What is shown of one pod or container, until that is gone. There are thousands of series, so
  // each is looked up once.
  class Series {
   public:
    // Of the object; those of a single series are empty.
    Series(metrics::Gauges& gauges, Labels labels);
    ~Series();
    Series(const Series&) = delete;
    Series& operator=(const Series&) = delete;

    bool HasLabels(Labels labels) const;
    void Show(const Pressures& pressures);

   private:
    // Some and full of the three kinds, each over three spans of time.
    static constexpr size_t kGauges = 18;

    std::vector<std::string_view> LabelsOf(size_t index) const;

    metrics::Gauges& gauges_;
    const std::vector<std::string> labels_;
    std::array<metrics::Gauge*, kGauges> shown_{};  // null where there is none yet
  };

  struct Memory {
    std::array<KeptFile, 3> files;
    std::unique_ptr<Series> series;  // null: nothing is shown
  };
  using Pods = TrackedPods<Memory>;

  std::optional<Pressures> Read(Pods::Entry& entry);
  void Store(const Pods::Entry& entry, const Pressures& pressures);
  void Show(Pods::Entry& entry, const Pressures& pressures);

  metrics::Gauges& pod_psi_;
  metrics::Gauges& container_psi_;
  Pods pods_;
  std::string buffer_;
  bool has_synced_ = false;
};

}  // namespace koord::koordlet
