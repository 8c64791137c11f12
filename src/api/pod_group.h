#pragma once
#include <optional>
#include <string>

#include "kube/objects/meta.h"
#include "kube/objects/resource_list.h"

// Pods that are placed together or not at all.
namespace koord::api {

struct PodGroupSpec {
  int32_t min_member = 0;
  kube::ResourceList min_resources;
  std::optional<int32_t> schedule_timeout_seconds;

  static void Fields(auto& self, auto&& field) {
    field("minMember", self.min_member);
    field("minResources", self.min_resources);
    field("scheduleTimeoutSeconds", self.schedule_timeout_seconds);
  }
  bool operator==(const PodGroupSpec&) const = default;
};

struct PodGroupStatus {
  // Pending, PreScheduling, Scheduling, Scheduled, Running, Unknown, Finished, Failed
  std::string phase;
  std::string occupied_by;
  int32_t scheduled = 0;
  int32_t running = 0;
  int32_t succeeded = 0;
  int32_t failed = 0;
  std::optional<WallTime> schedule_start_time;

  static void Fields(auto& self, auto&& field) {
    field("phase", self.phase);
    field("occupiedBy", self.occupied_by);
    field("scheduled", self.scheduled);
    field("running", self.running);
    field("succeeded", self.succeeded);
    field("failed", self.failed);
    field("scheduleStartTime", self.schedule_start_time);
  }
  bool operator==(const PodGroupStatus&) const = default;
};

struct PodGroup {
  kube::ObjectMeta metadata;
  PodGroupSpec spec;
  PodGroupStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const PodGroup&) const = default;
};

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::PodGroup);
