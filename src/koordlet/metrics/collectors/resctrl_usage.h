#pragma once
#include "koordlet/metrics/collectors/collector.h"

namespace koord::koordlet {

// Cache and memory bandwidth that each class of pods occupies, from the monitors of resctrl.
class ResctrlUsageCollector final : public Collector {
 public:
  explicit ResctrlUsageCollector(CollectorContext context);

  std::string_view name() const override { return "resctrl usage"; }
  bool enabled() const override {
    return context_.gates.Enabled("ResctrlCollector") && context_.options.resctrl;
  }
  Duration interval() const override { return context_.options.resctrl_interval; }
  void Collect() override;
  bool has_synced() const override { return has_synced_; }

 private:
  bool IsSupported() const;
  void CollectGroup(std::string_view group);
  void CollectCache(std::string_view group, std::string_view monitor, int32_t cache);
  std::optional<double> Read(std::string_view group, std::string_view monitor,
                             std::string_view file);

  bool has_synced_ = false;
  metrics::Gauges& llc_;
  metrics::Gauges& bandwidth_;
};

}  // namespace koord::koordlet
