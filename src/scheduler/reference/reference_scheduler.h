#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/config/expand_plugins.h"
#include "scheduler/reference/plain_cluster.h"
#include "scheduler/reference/rule.h"

namespace koord::scheduler::reference {

// Why a pod cannot be on a node: the first plugin, in profile order, that says so.
struct NodeFailure {
  std::string plugin;
  Verdict verdict;
};

struct Outcome {
  bool no_nodes = false;
  // Not ok: it ended there. A rejection applies to all nodes.
  Verdict pre_filter;
  Verdict error;                               // of scoring
  std::optional<std::set<std::string>> named;  // the only nodes that were looked at
  std::string absent_reason;                   // of the others
  std::map<std::string, NodeFailure> failures;
  bool single = false;  // one node was preferred to all others, which were not looked at
  std::map<std::string, int64_t> totals;     // of the feasible nodes; 0 where nothing was scored
  std::map<std::string, std::string> parts;  // how totals come about, for messages
  std::set<std::string> best;
  // The uid of the reservation that the pod draws from on each feasible node; "": none; or why it
  // cannot be given the node after all.
  std::map<std::string, std::string> drawn;
};

struct Preemption {
  std::string message;  // of DefaultPreemption
  struct Candidate {
    std::set<std::string> victims;  // uids
  };
  std::map<std::string, Candidate> best;  // nodes that may be chosen
};

// A scheduler as the rules describe it, for one profile: everything is computed anew for every pod
// by looping over nodes and pods. Slow, and meant to be checked by reading.
class ReferenceScheduler {
 public:
  ReferenceScheduler(const Profile& profile, const ProfilePlugins& plugins);

  Outcome Schedule(const PlainCluster& cluster, const PlainPod& pod) const;
  // After Schedule found no node.
  Preemption Preempt(const PlainCluster& cluster, const PlainPod& pod,
                     const Outcome& outcome) const;
  // What is said besides by the plugins that are asked then, in their order; nothing if evictions
  // help.
  std::vector<std::string> SayWhy(const PlainCluster& cluster, const PlainPod& pod,
                                  const Outcome& outcome, const Preemption& preemption) const;
  // "0/3 nodes are available: ..." without what is said besides.
  static std::string FitError(const PlainCluster& cluster, const Outcome& outcome);

 private:
  struct Named {
    std::string name;
    const Rule* rule;
    int64_t weight;
  };
  struct PreFiltered {
    std::set<std::string> skipped;
  };
  struct DryRun;

  std::vector<Named> RulesAt(const Profile& profile, const ProfilePlugins& plugins,
                             ExtensionPoint point);
  View Restored(const PlainCluster& cluster, const PlainPod& pod) const;
  void Draw(const View& view, const PlainPod& pod, Outcome& outcome) const;
  PreFiltered PreFilter(const View& view, const PlainPod& pod, Outcome& outcome) const;
  // Filters as they see the nodes with and without the pods that are promised them.
  std::map<std::string, NodeFailure> Filter(const View& view, const PlainPod& pod,
                                            const Nodes& nodes,
                                            const std::set<std::string>& skipped) const;
  std::map<std::string, NodeFailure> FilterOnce(const View& view, const PlainPod& pod,
                                                const Nodes& nodes,
                                                const std::set<std::string>& skipped) const;
  void Score(const View& view, const PlainPod& pod, const Nodes& feasible, Outcome& outcome) const;
  DryRun TryNode(const View& view, const PlainPod& pod, const PlainNode& node,
                 const std::set<std::string>& skipped) const;
  static std::optional<std::string> WhyNotEligible(const PlainCluster& cluster, const PlainPod& pod,
                                                   const Outcome& outcome);

  std::map<std::string, std::unique_ptr<Rule>> rules_;
  std::vector<Named> pre_filters_;
  std::vector<Named> filters_;
  std::vector<Named> scorers_;
  std::vector<std::string> post_filters_;
  std::vector<Named> reservers_;
};

}  // namespace koord::scheduler::reference
