#pragma once
#include <cstdint>
#include <vector>

#include "scheduler/cluster/pod_shape.h"
#include "scheduler/config/load_aware_args.h"
#include "scheduler/plugins/load_aware_scheduling/load_amounts.h"

namespace koord::scheduler {

// How much a pod will use once it runs, guessed from what it asks for: a percentage of its request
// or limit, whichever is larger. A pod that asks for nothing still counts as a small one.
class LoadEstimator {
 public:
  LoadEstimator(const LoadAwareSchedulingArgs& args, const LoadResources& tracked,
                ResourceNames& names);

  LoadAmounts Estimate(const PodShape& shape) const;

  // Until when the estimate of a pod counts even though its usage is reported; WallTime::min() if
  // it does not. `scheduled` is when it got its node.
  WallTime Deadline(const kube::Pod& pod, WallTime scheduled) const;

 private:
  // One tracked resource under the names that pods of a band ask for it by.
  struct Resource {
    int64_t factor = 0;  // percent; 0: not estimated
    bool is_cpu = false;
    bool is_memory = false;
    ResourceId own, batch, mid;  // batch and mid of cpu and memory only
  };

  int64_t EstimateOne(const Resource& resource, int64_t factor, const PodShape& shape) const;

  const LoadResources& tracked_;
  std::vector<Resource> resources_;
  bool customizable_;
  int64_t seconds_after_pod_scheduled_;
  int64_t seconds_after_initialized_;
};

}  // namespace koord::scheduler
