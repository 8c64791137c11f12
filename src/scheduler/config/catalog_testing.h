#pragma once
#include "scheduler/config/expand_plugins.h"

namespace koord::scheduler {

// The plugins of Kubernetes and Koordinator with the points that they take part in.
inline PluginCatalog FullCatalog() {
  using enum ExtensionPoint;
  return {
      {"SchedulingGates", {kPreEnqueue}},
      {"PrioritySort", {kQueueSort}},
      {"NodeUnschedulable", {kFilter}},
      {"NodeName", {kFilter}},
      {"TaintToleration", {kFilter, kPreScore, kScore}},
      {"NodeAffinity", {kPreFilter, kFilter, kPreScore, kScore}},
      {"NodePorts", {kPreFilter, kFilter}},
      {"NodeResourcesFit", {kPreFilter, kFilter, kPreScore, kScore}},
      {"VolumeRestrictions", {kPreFilter, kFilter}},
      {"NodeVolumeLimits", {kPreFilter, kFilter}},
      {"VolumeBinding", {kPreFilter, kFilter, kReserve, kPreBind}},
      {"VolumeZone", {kPreFilter, kFilter}},
      {"PodTopologySpread", {kPreFilter, kFilter, kPreScore, kScore}},
      {"InterPodAffinity", {kPreFilter, kFilter, kPreScore, kScore}},
      {"DynamicResources", {kPreEnqueue, kPreFilter, kFilter, kPostFilter, kReserve, kPreBind}},
      {"DefaultPreemption", {kPostFilter}},
      {"NodeResourcesBalancedAllocation", {kPreScore, kScore}},
      {"ImageLocality", {kScore}},
      {"DefaultBinder", {kBind}},
      {"SchedulingHint", {kPreFilter}},
      {"LoadAwareScheduling", {kFilter, kScore, kReserve}},
      {"NodeNUMAResource", {kPreFilter, kFilter, kScore, kReserve, kPreBind}},
      {"DeviceShare", {kPreFilter, kFilter, kScore, kReserve, kPreBind}},
      {"ElasticQuota", {kPreFilter, kPostFilter, kReserve}},
      {"Reservation",
       {kPreFilter, kFilter, kPostFilter, kPreScore, kScore, kReserve, kPreBind, kBind}},
      {"Coscheduling",
       {kPreEnqueue, kQueueSort, kPreFilter, kPostFilter, kPreScore, kScore, kReserve, kPermit,
        kPreBind, kPostBind}},
      {"DefaultPreBind", {kPreBind}},
      {"NodeResourcesFitPlus", {kPreScore, kScore}},
      {"ScarceResourceAvoidance", {kPreScore, kScore}},
  };
}

}  // namespace koord::scheduler
