#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/keys.h"
#include "base/clock.h"
#include "kube/config_document.h"

namespace koord::scheduler {

// How running pods are found that a reservation may be placed over.
struct PreAllocationConfig {
  bool enable_cluster_mode = false;
  std::string cluster_label_key = std::string(api::kLabelPreAllocatable);
  std::string cluster_priority_annotation_key = std::string(api::kAnnotationPreAllocatablePriority);
  bool prefer_no_pre_allocated_pods = false;

  static void Fields(auto& self, auto&& field) {
    field("enableClusterMode", kube::Always(self.enable_cluster_mode));
    field("clusterLabelKey", self.cluster_label_key);
    field("clusterPriorityAnnotationKey", self.cluster_priority_annotation_key);
    field("preferNoPreAllocatedPods", kube::Always(self.prefer_no_pre_allocated_pods));
  }
  bool operator==(const PreAllocationConfig&) const = default;
};

// Which labels of reservations are looked up instead of being compared one by one.
struct ReservationSelectorIndexArgs {
  bool enabled = false;
  std::vector<std::string> key_prefixes;
  std::vector<std::string> keys;

  static void Fields(auto& self, auto&& field) {
    field("enabled", kube::Always(self.enabled));
    field("keyPrefixes", self.key_prefixes);
    field("keys", self.keys);
  }
  bool operator==(const ReservationSelectorIndexArgs&) const = default;
};

struct ReservationArgs {
  static constexpr std::string_view kPlugin = "Reservation";

  bool enable_preemption = false;
  // How many nodes a preemption tries at least, as a share of all and as a number.
  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;
  int32_t controller_workers = 1;
  int64_t gc_duration_seconds = 0;  // how long an ended reservation is kept; 0: a day
  int64_t gc_interval_seconds = 0;  // 0: a minute
  bool disable_garbage_collection = false;
  int64_t resync_interval_seconds = 0;  // of the metrics; 0: a minute
  // Also reservations that were never scheduled end when their time is over.
  bool expire_unscheduled = false;
  std::optional<PreAllocationConfig> pre_allocation_config;
  std::vector<std::string> ignored_resources;  // extended ones, which are not compared
  std::vector<std::string> ignored_resource_groups;
  std::optional<ReservationSelectorIndexArgs> reservation_selector_index;

  static void Fields(auto& self, auto&& field) {
    field("enablePreemption", kube::Always(self.enable_preemption));
    field("minCandidateNodesPercentage", kube::Always(self.min_candidate_nodes_percentage));
    field("minCandidateNodesAbsolute", kube::Always(self.min_candidate_nodes_absolute));
    field("controllerWorkers", kube::Always(self.controller_workers));
    field("gcDurationSeconds", kube::Always(self.gc_duration_seconds));
    field("gcIntervalSeconds", kube::Always(self.gc_interval_seconds));
    field("disableGarbageCollection", kube::Always(self.disable_garbage_collection));
    field("resyncIntervalSeconds", kube::Always(self.resync_interval_seconds));
    field("expireUnscheduled", self.expire_unscheduled);
    field("preAllocationConfig", self.pre_allocation_config);
    field("ignoredResources", self.ignored_resources);
    field("ignoredResourceGroups", self.ignored_resource_groups);
    field("reservationSelectorIndex", self.reservation_selector_index);
  }
  bool operator==(const ReservationArgs&) const = default;

  void SetDefaults();
  void Check(const kube::ConfigField& at) const;

  Duration gc_duration() const { return std::chrono::seconds(gc_duration_seconds); }
  Duration gc_interval() const { return std::chrono::seconds(gc_interval_seconds); }
  Duration resync_interval() const { return std::chrono::seconds(resync_interval_seconds); }
  // By its name or by what stands before its first slash.
  bool Ignores(std::string_view resource) const;
};

}  // namespace koord::scheduler
