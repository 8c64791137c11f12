#include "scheduler/config/volume_args.h"

#include "base/duration.h"

namespace koord::scheduler {

using kube::ConfigField;

void VolumeBindingArgs::Check(const ConfigField& at) const {
  at.Member("bindTimeoutSeconds").CheckAtLeast(bind_timeout_seconds, 0);
  if (!shape.empty()) {
    at.Member("shape").Error("must be absent: StorageCapacityScoring is not available");
  }
}

void DynamicResourcesArgs::SetDefaults() {
  if (!filter_timeout) filter_timeout = 10s;
}

void DynamicResourcesArgs::Check(const ConfigField& at) const {
  if (filter_timeout && *filter_timeout < Duration::zero()) {
    at.Member("filterTimeout")
        .Error("{} is negative: must be at least 0s", FormatDuration(*filter_timeout));
  }
}

}  // namespace koord::scheduler
