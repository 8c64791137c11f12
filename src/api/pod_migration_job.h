#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/condition.h"
#include "kube/objects/meta.h"
#include "kube/time.h"

// Moves one pod: reserves its new place first and evicts it second.
namespace koord::api {

struct MigrationReservationOptions {
  std::optional<kube::ObjectReference> reservation_ref;  // use this one
  kube::Json reservation_template;                       // {metadata, spec} of one to make
  kube::Json preemption_options;

  static void Fields(auto& self, auto&& field) {
    field("reservationRef", self.reservation_ref);
    field("template", self.reservation_template);
    field("preemptionOptions", self.preemption_options);
  }
  bool operator==(const MigrationReservationOptions&) const = default;
};

struct PodMigrationJobSpec {
  bool paused = false;
  std::optional<Duration> ttl;  // 0: no time-out
  std::string mode;             // ReservationFirst (also when empty), EvictDirectly
  kube::ObjectReference pod_ref;
  std::optional<MigrationReservationOptions> reservation_options;
  kube::Json delete_options;

  static void Fields(auto& self, auto&& field) {
    field("paused", self.paused);
    field("ttl", self.ttl);
    field("mode", self.mode);
    field("podRef", kube::Always(self.pod_ref));
    field("reservationOptions", self.reservation_options);
    field("deleteOptions", self.delete_options);
  }
  bool operator==(const PodMigrationJobSpec&) const = default;
};

struct PreemptedReservation {
  std::string ns;
  std::string name;
  std::string node_name;
  std::string phase;
  std::optional<kube::ObjectReference> preempted_pod_ref;
  std::vector<kube::ObjectReference> pods_ref;

  static void Fields(auto& self, auto&& field) {
    field("namespace", self.ns);
    field("name", self.name);
    field("nodeName", self.node_name);
    field("phase", self.phase);
    field("preemptedPodRef", self.preempted_pod_ref);
    field("podsRef", self.pods_ref);
  }
  bool operator==(const PreemptedReservation&) const = default;
};

struct PodMigrationJobStatus {
  std::string phase;   // Pending (also when empty), Running, Succeeded, Failed, Aborted
  std::string status;  // the current step
  std::string reason;
  std::string message;
  std::vector<ProbedCondition> conditions;
  std::string node_name;
  std::optional<kube::ObjectReference> pod_ref;  // the new pod
  std::vector<kube::ObjectReference> preempted_pods_ref;
  std::vector<PreemptedReservation> preempted_pods_reservation;

  static void Fields(auto& self, auto&& field) {
    field("phase", self.phase);
    field("status", self.status);
    field("reason", self.reason);
    field("message", self.message);
    field("conditions", self.conditions);
    field("nodeName", self.node_name);
    field("podRef", self.pod_ref);
    field("preemptedPodsRef", self.preempted_pods_ref);
    field("preemptedPodsReservation", self.preempted_pods_reservation);
  }
  bool operator==(const PodMigrationJobStatus&) const = default;
};

struct PodMigrationJob {
  kube::ObjectMeta metadata;
  PodMigrationJobSpec spec;
  PodMigrationJobStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const PodMigrationJob&) const = default;
};

inline constexpr std::string_view kMigrationReservationFirst = "ReservationFirst";
inline constexpr std::string_view kMigrationEvictDirectly = "EvictDirectly";

inline constexpr std::string_view kMigrationPending = "Pending";
inline constexpr std::string_view kMigrationRunning = "Running";
inline constexpr std::string_view kMigrationSucceeded = "Succeeded";
inline constexpr std::string_view kMigrationFailed = "Failed";
inline constexpr std::string_view kMigrationAborted = "Aborted";

inline constexpr std::string_view kMigrationConditionReservationCreated = "ReservationCreated";
inline constexpr std::string_view kMigrationConditionReservationScheduled = "ReservationScheduled";
inline constexpr std::string_view kMigrationConditionPreemption = "Preemption";
inline constexpr std::string_view kMigrationConditionEviction = "Eviction";
inline constexpr std::string_view kMigrationConditionPodScheduled = "PodScheduled";
inline constexpr std::string_view kMigrationConditionPodBoundReservation = "PodBoundReservation";
inline constexpr std::string_view kMigrationConditionBoundPodReady = "BoundPodReady";
inline constexpr std::string_view kMigrationConditionReservationBound = "ReservationBound";

inline constexpr std::string_view kMigrationReasonTimeout = "Timeout";
inline constexpr std::string_view kMigrationReasonFailedCreateReservation =
    "FailedCreateReservation";
inline constexpr std::string_view kMigrationReasonReservationExpired = "ReservationExpired";
inline constexpr std::string_view kMigrationReasonUnschedulable = "Unschedulable";
inline constexpr std::string_view kMigrationReasonForbiddenMigratePod = "ForbiddenMigratePod";
inline constexpr std::string_view kMigrationReasonMissingPod = "MissingPod";
inline constexpr std::string_view kMigrationReasonMissingReservation = "MissingReservation";
inline constexpr std::string_view kMigrationReasonPreempting = "Preempting";
inline constexpr std::string_view kMigrationReasonPreemptComplete = "PreemptComplete";
inline constexpr std::string_view kMigrationReasonEvicting = "Evicting";
inline constexpr std::string_view kMigrationReasonFailedEvict = "FailedEvict";
inline constexpr std::string_view kMigrationReasonEvictComplete = "EvictComplete";
inline constexpr std::string_view kMigrationReasonWaitForPodBindReservation =
    "WaitForPodBindReservation";
inline constexpr std::string_view kMigrationReasonWaitForBoundPodReady = "WaitForBoundPodReady";

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::PodMigrationJob);
