#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/config/scheduler_configuration.h"
#include "scheduler/framework/verdict.h"
#include "scheduler/reference/plain_cluster.h"

// What a plugin decides, as the rules say it: loops over nodes and pods, nothing kept.
namespace koord::scheduler::reference {

using Nodes = std::vector<const PlainNode*>;

struct PreFilterAnswer {
  Verdict verdict;
  std::optional<std::vector<std::string>> node_names = {};
  // The same, but that other plugins name other nodes is no reason of its own.
  // That there are none is said after all plugins were asked.
  std::optional<std::set<std::string>> limit = {};
  std::string none_reason = {};
};

struct ScoreAnswer {
  Verdict verdict;                   // Skip: it takes no part
  std::vector<int64_t> scores = {};  // 0 to 100, one a feasible node
};

// Why a node will not do.
using ReasonsByNode = std::function<std::vector<std::string>(const std::string& node)>;

class Rule {
 public:
  virtual ~Rule() = default;

  // Shows the pod the cluster as it is for it, before anybody else has a say.
  virtual void Restore(View&, const PlainPod&) const {}
  virtual PreFilterAnswer PreFilter(const View&, const PlainPod&) const { return {}; }
  // One verdict a node.
  virtual std::vector<Verdict> Filter(const View& view, const PlainPod& pod,
                                      const Nodes& nodes) const {
    std::vector<Verdict> verdicts;
    for (const PlainNode* node : nodes) verdicts.push_back(FilterNode(view, pod, *node));
    return verdicts;
  }
  virtual Verdict FilterNode(const View&, const PlainPod&, const PlainNode&) const { return {}; }
  // Of the feasible nodes, normalised.
  virtual ScoreAnswer Score(const View&, const PlainPod&, const Nodes&) const {
    return {Verdict::Skip()};
  }
  // The nodes that are tried first, one after another.
  virtual std::vector<std::string> PreferNodes(const View&, const PlainPod&) const { return {}; }
  // The uid of the reservation that the pod draws from on a node; "": none; or why it cannot be.
  virtual std::string DrawnFrom(const View&, const PlainPod&, const PlainNode&) const { return ""; }
  // What else is to be said of a pod for which no node will do.
  virtual std::vector<std::string> SayWhy(const View&, const PlainPod&,
                                          const ReasonsByNode&) const {
    return {};
  }
};

// Null for a plugin that decides nothing about nodes.
std::unique_ptr<Rule> MakeRule(std::string_view plugin, const Profile& profile);

// 0 to 100 of the largest, or reversed. Without anything above 0: 0, or 100 reversed.
void NormalizeByLargest(std::vector<int64_t>& scores, bool reversed);

std::unique_ptr<Rule> NodeNameRule();
std::unique_ptr<Rule> NodeUnschedulableRule();
std::unique_ptr<Rule> TaintTolerationRule();
std::unique_ptr<Rule> NodeAffinityRule(NodeAffinityArgs args);
std::unique_ptr<Rule> NodePortsRule();
std::unique_ptr<Rule> ImageLocalityRule();
std::unique_ptr<Rule> NodeResourcesFitRule(NodeResourcesFitArgs args);
std::unique_ptr<Rule> NodeResourcesBalancedAllocationRule(NodeResourcesBalancedAllocationArgs args);
std::unique_ptr<Rule> NodeResourcesFitPlusRule(NodeResourcesFitPlusArgs args);
std::unique_ptr<Rule> ScarceResourceAvoidanceRule(ScarceResourceAvoidanceArgs args);
std::unique_ptr<Rule> InterPodAffinityRule(InterPodAffinityArgs args);
std::unique_ptr<Rule> PodTopologySpreadRule(PodTopologySpreadArgs args);
std::unique_ptr<Rule> LoadAwareSchedulingRule(LoadAwareSchedulingArgs args);
std::unique_ptr<Rule> VolumeRestrictionsRule();
std::unique_ptr<Rule> NodeVolumeLimitsRule();
std::unique_ptr<Rule> VolumeBindingRule();
std::unique_ptr<Rule> VolumeZoneRule();
std::unique_ptr<Rule> SchedulingHintRule(SchedulingHintArgs args);
std::unique_ptr<Rule> ReservationRule(ReservationArgs args);

}  // namespace koord::scheduler::reference
