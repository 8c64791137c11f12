#pragma once
#include "base/string_map.h"
#include "koordlet/metrics/collectors/cgroup_usage.h"

namespace koord::koordlet {

// CPU and memory of applications outside of Kubernetes that the NodeSLO names.
class HostApplicationCollector final : public Collector {
 public:
  explicit HostApplicationCollector(CollectorContext context);

  std::string_view name() const override { return "host applications"; }
  void Collect() override;
  bool has_synced() const override { return has_synced_; }

 private:
  struct Application {
    api::HostApplication spec;
    CgroupDir dir;
    CgroupCpu cpu;
    CgroupMemory memory;
    KeptFile memory_usage;
  };

  void Follow();
  void CollectOne(Application& application, UsageSum& sum);
  void Show(const Application& application, std::string_view resource, double value);

  std::shared_ptr<const api::NodeSloSpec> slo_;
  std::vector<Application> applications_;
  std::string buffer_;
  bool has_synced_ = false;
  metrics::Gauges& usage_;
};

}  // namespace koord::koordlet
