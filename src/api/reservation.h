#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/condition.h"
#include "kube/objects/pod.h"
#include "kube/time.h"

// Keeps resources of a node for pods to come.
namespace koord::api {

struct ReservationControllerReference : kube::OwnerReference {
  std::string ns;

  static void Fields(auto& self, auto&& field) {
    kube::OwnerReference::Fields(self, field);
    field("namespace", self.ns);
  }
  bool operator==(const ReservationControllerReference&) const = default;
};

// Pods that may use a reservation: those that match all of what is set.
struct ReservationOwner {
  std::optional<kube::ObjectReference> object;
  std::optional<ReservationControllerReference> controller;
  std::optional<kube::LabelSelector> label_selector;

  static void Fields(auto& self, auto&& field) {
    field("object", self.object);
    field("controller", self.controller);
    field("labelSelector", self.label_selector);
  }
  bool operator==(const ReservationOwner&) const = default;
};

struct PreAllocationPolicy {
  std::string mode;  // Default (also when empty), Cluster
  bool enable_multiple = false;

  static void Fields(auto& self, auto&& field) {
    field("mode", self.mode);
    field("enableMultiple", self.enable_multiple);
  }
  bool operator==(const PreAllocationPolicy&) const = default;
};

struct ReservationSpec {
  std::optional<kube::PodTemplateSpec> pod_template;
  // A short form: stands for a template of one container with these requests.
  std::optional<kube::ResourceRequirements> resources;
  std::vector<ReservationOwner> owners;  // any of them
  std::optional<Duration> ttl;           // from creation on; 0: for ever
  std::optional<WallTime> expires;       // or ttl, whichever ends first
  bool pre_allocation = false;
  std::optional<bool> allocate_once;  // true when absent
  std::string allocate_policy;        // Aligned (also when empty), Restricted
  bool unschedulable = false;
  std::vector<kube::Taint> taints;
  std::optional<PreAllocationPolicy> pre_allocation_policy;

  static void Fields(auto& self, auto&& field) {
    field("template", self.pod_template);
    field("resources", self.resources);
    field("owners", self.owners);
    field("ttl", self.ttl);
    field("expires", self.expires);
    field("preAllocation", self.pre_allocation);
    field("allocateOnce", self.allocate_once);
    field("allocatePolicy", self.allocate_policy);
    field("unschedulable", self.unschedulable);
    field("taints", self.taints);
    field("preAllocationPolicy", self.pre_allocation_policy);
  }
  bool operator==(const ReservationSpec&) const = default;
};

struct ReservationStatus {
  std::string phase;  // Pending (also when empty), Available, Succeeded, Waiting, Failed
  std::vector<ProbedCondition> conditions;
  std::vector<kube::ObjectReference> current_owners;
  std::string node_name;
  kube::ResourceList allocatable;
  kube::ResourceList allocated;

  static void Fields(auto& self, auto&& field) {
    field("phase", self.phase);
    field("conditions", self.conditions);
    field("currentOwners", self.current_owners);
    field("nodeName", self.node_name);
    field("allocatable", self.allocatable);
    field("allocated", self.allocated);
  }
  bool operator==(const ReservationStatus&) const = default;
};

struct Reservation {
  kube::ObjectMeta metadata;
  ReservationSpec spec;
  ReservationStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const Reservation&) const = default;
};

inline constexpr std::string_view kReservationPending = "Pending";
inline constexpr std::string_view kReservationAvailable = "Available";
inline constexpr std::string_view kReservationSucceeded = "Succeeded";
inline constexpr std::string_view kReservationWaiting = "Waiting";
inline constexpr std::string_view kReservationFailed = "Failed";

inline constexpr std::string_view kReservationConditionScheduled = "Scheduled";
inline constexpr std::string_view kReservationConditionReady = "Ready";

inline constexpr std::string_view kReservationReasonScheduled = "Scheduled";
inline constexpr std::string_view kReservationReasonUnschedulable = "Unschedulable";
inline constexpr std::string_view kReservationReasonAvailable = "Available";
inline constexpr std::string_view kReservationReasonSucceeded = "Succeeded";
inline constexpr std::string_view kReservationReasonExpired = "Expired";

// The template, also where the short form stands for it; none if neither is there.
std::optional<kube::PodTemplateSpec> TemplateOf(const ReservationSpec& spec);
// Whether it says what to reserve, for whom and for how long; in the words that users know. The
// short form needs no owners: pods name the reservation.
Status Validate(const ReservationSpec& spec);
inline bool AllocatesOnce(const ReservationSpec& spec) { return spec.allocate_once.value_or(true); }

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::ReservationOwner);
KOORD_DECLARE_CODEC(koord::api::ReservationSpec);
KOORD_DECLARE_CODEC(koord::api::Reservation);
