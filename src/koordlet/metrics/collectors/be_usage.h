#pragma once
#include "koordlet/informers/tracked_pods.h"
#include "koordlet/metrics/collectors/collector.h"

namespace koord::koordlet {

// CPU of best-effort pods as a whole, in milli-cores: what they use, what they have asked for and,
// where the node evicts those that are not satisfied with it, what they may use at most at present.
class BeUsageCollector final : public Collector {
 public:
  explicit BeUsageCollector(CollectorContext context) : Collector(context) {}

  std::string_view name() const override { return "best-effort usage"; }
  void Collect() override;
  bool has_synced() const override { return has_synced_; }

 private:
  void CollectUsage(const CgroupDir& dir);
  void SumRequests();
  bool IsLimitWanted() const;
  std::optional<double> RealLimit(const CgroupDir& dir);

  KeptFile usage_;
  std::optional<int64_t> last_nanos_;
  SteadyTime last_at_{};
  KeptFile cpuset_;
  TrackedPods<KeptFile> pods_;
  double request_ = 0;
  std::string buffer_;
  bool has_synced_ = false;
};

}  // namespace koord::koordlet
