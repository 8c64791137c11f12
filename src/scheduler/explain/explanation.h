#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/codec.h"
#include "kube/time.h"

// Why a pod is pending, or why it landed where it is.
namespace koord::scheduler {

// Where a pod is in the queue, and what it waits for.
struct ExplainedQueue {
  std::string pool;              // active, backoff, unschedulable, gated, in flight
  std::optional<int64_t> ahead;  // pods that come out of its pool first
  int64_t attempts = 0;
  std::optional<WallTime> added_at;
  std::optional<WallTime> first_attempt_at;
  std::string backoff_left;  // "3s"
  std::vector<std::string> rejected_by;
  std::string gated_by;
  std::string message;  // of the last failure, or of the gate
  bool waits_for_any_event = false;
  std::vector<std::string> waits_for;  // kinds of events that may help

  static void Fields(auto& self, auto&& field) {
    field("pool", self.pool);
    field("ahead", self.ahead);
    field("attempts", kube::Always(self.attempts));
    field("addedAt", self.added_at);
    field("firstAttemptAt", self.first_attempt_at);
    field("backoffLeft", self.backoff_left);
    field("rejectedBy", self.rejected_by);
    field("gatedBy", self.gated_by);
    field("message", self.message);
    field("waitsForAnyEvent", self.waits_for_any_event);
    field("waitsFor", self.waits_for);
  }
};

// How a pod got its node.
struct ExplainedDecision {
  WallTime at{};
  std::string node;
  int64_t total = 0;  // score; 0 where there was no choice
  int64_t feasible = 0;
  int64_t evaluated = 0;

  static void Fields(auto& self, auto&& field) {
    field("at", self.at);
    field("node", self.node);
    field("total", kube::Always(self.total));
    field("feasible", self.feasible);
    field("evaluated", self.evaluated);
  }
};

struct Explanation {
  using Queue = ExplainedQueue;
  using Decided = ExplainedDecision;

  // A Permit plugin that has not said yes yet.
  struct Permit {
    std::string plugin;
    std::string time_left;

    static void Fields(auto& self, auto&& field) {
      field("plugin", self.plugin);
      field("timeLeft", self.time_left);
    }
  };

  // The nodes that one plugin removed.
  struct Rejection {
    struct Reason {
      std::string reason;
      int64_t count = 0;
      bool preemption_might_help = false;
      std::vector<std::string> nodes;  // some of them

      static void Fields(auto& self, auto&& field) {
        field("reason", self.reason);
        field("count", self.count);
        field("preemptionMightHelp", self.preemption_might_help);
        field("nodes", self.nodes);
      }
    };
    std::string plugin;
    int64_t count = 0;
    std::vector<Reason> reasons;  // the most frequent first

    static void Fields(auto& self, auto&& field) {
      field("plugin", self.plugin);
      field("count", self.count);
      field("reasons", self.reasons);
    }
  };

  // A node that the pod cannot use, with everything that is in its way.
  struct NearMiss {
    std::string node;
    std::map<std::string, std::string> lacks;  // by resource: quantities
    std::vector<std::string> others;           // "has the taint gpu:NoSchedule"
    std::string text;                          // "node-7 lacks 500m cpu, is cordoned"

    static void Fields(auto& self, auto&& field) {
      field("node", self.node);
      field("lacks", self.lacks);
      field("others", self.others);
      field("text", self.text);
    }
  };

  // What would make the pod fit a node. It was tried.
  struct Change {
    std::string node;
    std::vector<std::string> edits;  // all of them are needed
    std::string text;                // "lower the cpu request to 1500m: then node-7 can take it"

    static void Fields(auto& self, auto&& field) {
      field("node", self.node);
      field("edits", self.edits);
      field("text", self.text);
    }
  };

  // A reservation that is for the pod, or that it names.
  struct Reservation {
    std::string name;
    std::string node;
    bool used = false;    // by this pod
    bool usable = false;  // if it were placed now
    std::string text;     // "was used up"

    static void Fields(auto& self, auto&& field) {
      field("name", self.name);
      field("node", self.node);
      field("used", self.used);
      field("usable", self.usable);
      field("text", self.text);
    }
  };

  // What the pod would be given on a node beyond amounts, or is given there: CPUs, shares of NUMA
  // nodes, devices; and why not from elsewhere on that machine.
  struct Trial {
    std::string node;
    std::vector<std::string> lines;

    static void Fields(auto& self, auto&& field) {
      field("node", self.node);
      field("lines", self.lines);
    }
  };

  struct Score {
    std::string node;
    int64_t total = 0;
    std::map<std::string, int64_t> plugins;  // weighed

    static void Fields(auto& self, auto&& field) {
      field("node", self.node);
      field("total", kube::Always(self.total));
      field("plugins", self.plugins);
    }
  };

  std::string ns;
  std::string name;
  std::string uid;
  std::string scheduler_name;
  std::string state;           // Pending, Gated, WaitingForPermit, Binding, Bound, Ignored
  std::string summary;         // one sentence
  std::string node;            // that it has or is given
  std::string nominated_node;  // that it is promised
  std::optional<Queue> queue;
  std::vector<Permit> waits_for_permit;
  std::optional<Decided> decided;

  // As if it were placed now.
  int64_t nodes = 0;
  int64_t feasible = 0;
  std::string rejected_as_a_whole;    // by PreFilter: no node was looked at
  std::vector<Rejection> rejections;  // in the order of the plugins
  std::vector<NearMiss> nearest_misses;
  std::vector<Change> changes;            // the smallest; any one of them would do
  std::vector<Score> scores;              // of the best nodes, best first
  std::vector<Reservation> reservations;  // by name
  std::string holds;                      // beyond amounts, on its node
  std::vector<Trial> trials;              // on its node, on the best ones, or on the nearest misses

  static void Fields(auto& self, auto&& field) {
    field("namespace", self.ns);
    field("name", self.name);
    field("uid", self.uid);
    field("schedulerName", self.scheduler_name);
    field("state", self.state);
    field("summary", self.summary);
    field("node", self.node);
    field("nominatedNode", self.nominated_node);
    field("queue", self.queue);
    field("waitsForPermit", self.waits_for_permit);
    field("decided", self.decided);
    field("nodes", kube::Always(self.nodes));
    field("feasible", kube::Always(self.feasible));
    field("rejectedAsAWhole", self.rejected_as_a_whole);
    field("rejections", self.rejections);
    field("nearestMisses", self.nearest_misses);
    field("changes", self.changes);
    field("scores", self.scores);
    field("reservations", self.reservations);
    field("holds", self.holds);
    field("trials", self.trials);
  }
};

// For a terminal of `width` columns.
std::string FormatExplanation(const Explanation& explanation, size_t width = 100);
// Without its heading and summary.
std::string FormatDetails(const Explanation& explanation, size_t width = 100);

}  // namespace koord::scheduler

KOORD_DECLARE_CODEC(koord::scheduler::Explanation);
