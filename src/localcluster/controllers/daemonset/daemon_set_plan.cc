#include "localcluster/controllers/daemonset/daemon_set_plan.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "kube/resources.h"
#include "localcluster/controllers/common/replica_limit.h"
#include "localcluster/controllers/common/template_hash.h"
#include "localcluster/controllers/daemonset/daemon_pod.h"

namespace koord::localcluster {
namespace {

constexpr int32_t kDefaultHistory = 10;
constexpr Duration kRetryAfter = 10s;

// What there is on one node.
struct NodePods {
  NodeVerdict verdict;
  PodList fresh, old, ended;  // of the present template, of earlier ones; at their end
};

class DaemonPlanner {
 public:
  DaemonPlanner(const DaemonSetInput& input, Random& random, kube::Plan& plan)
      : input_(input), set_(input.set), random_(random), plan_(plan) {}

  void Decide() {
    revision_ = ChooseRevision({.owner = {kube::kDaemonSets, set_.metadata},
                                .pod_template = set_.spec.pod_template,
                                .revisions = input_.revisions,
                                .collision_count = set_.status.collision_count,
                                .is_taken = input_.revision_is_taken},
                               plan_);
    SortPods();
    ReportStatus();
    if (kube::IsBeingDeleted(set_.metadata) || !revision_.usable) return;
    for (const PodPtr& pod : waiting_in_vain_) Remove(*pod);
    for (const auto& [name, node] : nodes_) Maintain(name, node);
    if (set_.spec.update_strategy.type != "OnDelete") Roll();
    TidyUp();
  }

 private:
  void SortPods() {
    const DaemonRequirements requirements(set_.spec.pod_template);
    for (const auto& node : input_.nodes) {
      NodePods& pods = nodes_[node->metadata.name];
      pods.verdict = requirements.Judge(*node);
      wanted_ += pods.verdict.start;
    }
    for (const PodPtr& pod : input_.pods) {
      const auto node = nodes_.find(NodeOf(*pod));
      if (node == nodes_.end()) {
        if (!kube::IsAssigned(*pod)) waiting_in_vain_.push_back(pod);
      } else if (kube::IsTerminal(*pod)) {
        node->second.ended.push_back(pod);
      } else {
        (IsFresh(*pod) ? node->second.fresh : node->second.old).push_back(pod);
      }
    }
  }

  bool IsFresh(const kube::Pod& pod) const {
    return kube::ValueOf(pod.metadata.labels, kControllerRevisionHash) == revision_.hash;
  }
  bool IsGood(const kube::Pod& pod) const {
    return IsActive(pod) && IsAvailable(pod, set_.spec.min_ready_seconds, input_.now);
  }
  bool AnyGood(const PodList& pods) const {
    return std::any_of(pods.begin(), pods.end(), [&](const auto& pod) { return IsGood(*pod); });
  }

  void Make(const std::string& node) {
    kube::Json pod = DaemonPod(set_, revision_.hash, node);
    NameRandomly(pod, set_.metadata.name + "-", random_);
    kube::Write write = Create(kube::kPods, std::move(pod));
    plan_.Tell(kube::kDaemonSets, set_.metadata, "SuccessfulCreate",
               "Created pod: " + write.key.name);
    plan_.Add(std::move(write));
  }

  void Remove(const kube::Pod& pod) {
    if (kube::IsBeingDeleted(pod.metadata)) return;
    plan_.Tell(kube::kDaemonSets, set_.metadata, "SuccessfulDelete",
               "Deleted pod: " + pod.metadata.name);
    plan_.Add(Delete(kube::kPods, pod.metadata));
  }

  // One pod where one should be, none where none should.
  void Maintain(const std::string& name, const NodePods& node) {
    if (!node.verdict.stay) {
      for (const PodList* pods : {&node.fresh, &node.old, &node.ended}) {
        for (const PodPtr& pod : *pods) Remove(*pod);
      }
      return;
    }
    for (const PodPtr& pod : node.ended) {
      const Duration left = pod->metadata.creation_timestamp + kRetryAfter - input_.now;
      if (left > Duration::zero()) {
        plan_.AgainWithin(left);
      } else {
        Remove(*pod);
      }
    }
    RemoveDoubles(node.fresh);
    RemoveDoubles(node.old);
    const bool empty = node.fresh.empty() && node.old.empty() && node.ended.empty();
    if (empty && node.verdict.start) Make(name);
  }

  // The oldest stays.
  void RemoveDoubles(PodList pods) {
    std::erase_if(pods, [](const PodPtr& pod) { return !IsActive(*pod); });
    std::sort(pods.begin(), pods.end(), [](const PodPtr& a, const PodPtr& b) {
      return std::tie(a->metadata.creation_timestamp, a->metadata.name) <
             std::tie(b->metadata.creation_timestamp, b->metadata.name);
    });
    for (size_t i = 1; i < pods.size(); ++i) Remove(*pods[i]);
  }

  int32_t Limit(const std::optional<kube::IntOrString>& given, int32_t otherwise) const {
    return LimitOf(given, wanted_, kube::IntOrString::Rounding::kCeil, otherwise);
  }

  void Roll() {
    const kube::RollingUpdate rolling =
        set_.spec.update_strategy.rolling_update.value_or(kube::RollingUpdate{});
    const int32_t surge = Limit(rolling.max_surge, 0);
    if (surge > 0) {
      RollWithSurge(surge);
    } else {
      RollInPlace(std::max(Limit(rolling.max_unavailable, 1), 1));
    }
  }

  void RollInPlace(int32_t max_unavailable) {
    int32_t budget = max_unavailable;
    for (const auto& [name, node] : nodes_) {
      if (node.verdict.start && !AnyGood(node.fresh) && !AnyGood(node.old)) --budget;
    }
    for (const auto& [name, node] : nodes_) {
      for (const PodPtr& pod : node.old) {
        // What is not available anyway costs nothing.
        if (IsGood(*pod) && budget-- <= 0) continue;
        Remove(*pod);
      }
    }
  }

  void RollWithSurge(int32_t surge) {
    int32_t budget = surge;
    for (const auto& [name, node] : nodes_) {
      if (!node.old.empty() && !node.fresh.empty()) --budget;
    }
    for (const auto& [name, node] : nodes_) {
      if (node.old.empty()) continue;
      if (AnyGood(node.fresh) || !AnyGood(node.old)) {
        for (const PodPtr& pod : node.old) Remove(*pod);
      }
      if (node.fresh.empty() && node.verdict.start && budget-- > 0) Make(name);
    }
  }

  void ReportStatus() {
    kube::DaemonSetStatus status = set_.status;
    status.observed_generation = set_.metadata.generation;
    status.desired_number_scheduled = wanted_;
    status.current_number_scheduled = status.number_misscheduled = status.number_ready = 0;
    status.updated_number_scheduled = status.number_available = 0;
    for (const auto& [name, node] : nodes_) CountNode(node, status);
    status.number_unavailable = wanted_ - status.number_available;
    if (!revision_.usable) status.collision_count = status.collision_count.value_or(0) + 1;
    plan_.Add(StatusPatch(kube::kDaemonSets, set_.metadata, kube::Encode(set_.status),
                          kube::Encode(status)));
    if (const auto left =
            UntilNextAvailable(input_.pods, set_.spec.min_ready_seconds, input_.now)) {
      plan_.AgainWithin(*left);
    }
  }

  void CountNode(const NodePods& node, kube::DaemonSetStatus& status) const {
    const bool any = !node.fresh.empty() || !node.old.empty() || !node.ended.empty();
    if (!node.verdict.start) {
      status.number_misscheduled += any;
      return;
    }
    status.current_number_scheduled += any;
    const auto ready = [](const PodPtr& pod) { return IsActive(*pod) && kube::IsReady(*pod); };
    status.number_ready += std::any_of(node.fresh.begin(), node.fresh.end(), ready) ||
                           std::any_of(node.old.begin(), node.old.end(), ready);
    status.number_available += AnyGood(node.fresh) || AnyGood(node.old);
    status.updated_number_scheduled += !node.fresh.empty();
  }

  void TidyUp() {
    std::vector<std::string> in_use = {revision_.name};
    for (const PodPtr& pod : input_.pods) {
      in_use.push_back(set_.metadata.name + "-" +
                       std::string(kube::ValueOf(pod->metadata.labels, kControllerRevisionHash)));
    }
    TidyRevisions(input_.revisions, in_use,
                  set_.spec.revision_history_limit.value_or(kDefaultHistory), plan_);
  }

  const DaemonSetInput& input_;
  const kube::DaemonSet& set_;
  Random& random_;
  kube::Plan& plan_;
  RevisionChoice revision_;
  std::map<std::string, NodePods> nodes_;
  PodList waiting_in_vain_;  // for nodes that have gone
  int32_t wanted_ = 0;
};

}  // namespace

void PlanDaemonSet(const DaemonSetInput& input, Random& random, kube::Plan& plan) {
  DaemonPlanner(input, random, plan).Decide();
}

}  // namespace koord::localcluster
