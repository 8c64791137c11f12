#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/scheduler.h"
#include "scheduler/explain/explanation.h"

// Who may use a reservation, who does, what is left, and when it ends.
namespace koord::scheduler {

struct ReservationExplanation {
  using Amounts = std::map<std::string, std::string>;  // by resource

  struct User {
    std::string pod;  // namespace/name
    Amounts requests;

    static void Fields(auto& self, auto&& field) {
      field("pod", self.pod);
      field("requests", self.requests);
    }
  };
  // A pod that waits for a node, and that the reservation is for.
  struct Candidate {
    std::string pod;
    bool usable = false;
    std::string text;

    static void Fields(auto& self, auto&& field) {
      field("pod", self.pod);
      field("usable", self.usable);
      field("text", self.text);
    }
  };

  std::string name;
  std::string uid;
  std::string state;    // its phase
  std::string summary;  // one sentence
  std::string node;
  std::string policy;
  bool allocate_once = false;
  std::vector<std::string> may_use;  // any of them
  std::string problem;               // why nobody can
  Amounts holds;
  Amounts left;
  std::vector<User> used_by;
  std::string ends;                      // "in 23h0m0s, at ..."
  std::vector<Candidate> candidates;     // the newest first
  int64_t more_candidates = 0;           // besides these
  std::optional<Explanation> placement;  // while it waits for a node

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("uid", self.uid);
    field("state", self.state);
    field("summary", self.summary);
    field("node", self.node);
    field("allocatePolicy", self.policy);
    field("allocateOnce", kube::Always(self.allocate_once));
    field("mayUse", self.may_use);
    field("problem", self.problem);
    field("holds", self.holds);
    field("left", self.left);
    field("usedBy", self.used_by);
    field("ends", self.ends);
    field("candidates", self.candidates);
    field("moreCandidates", self.more_candidates);
    field("placement", self.placement);
  }
};

// Nothing if there is no such reservation.
std::optional<ReservationExplanation> ExplainReservation(Scheduler& scheduler,
                                                         const std::string& name);

std::string FormatExplanation(const ReservationExplanation& explanation, size_t width = 100);

// "pods of ReplicaSet web, in namespace shop, with labels app=web"
std::string OwnerText(const api::ReservationOwner& owner);

}  // namespace koord::scheduler

KOORD_DECLARE_CODEC(koord::scheduler::ReservationExplanation);
