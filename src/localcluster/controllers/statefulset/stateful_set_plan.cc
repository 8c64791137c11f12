#include "localcluster/controllers/statefulset/stateful_set_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/strings.h"
#include "kube/resources.h"
#include "localcluster/controllers/common/replica_limit.h"
#include "localcluster/controllers/common/template_hash.h"
#include "localcluster/controllers/statefulset/stateful_pod.h"

namespace koord::localcluster {
namespace {

using kube::Json;

constexpr int32_t kDefaultHistory = 10;
// More come when these have been seen.
constexpr int kMostAtOnce = 500;

std::string_view RevisionOf(const kube::Pod& pod) {
  return kube::ValueOf(pod.metadata.labels, kControllerRevisionHash);
}

// One decision about one set.
class SetPlanner {
 public:
  SetPlanner(const StatefulSetInput& input, kube::Plan& plan)
      : input_(input), set_(input.set), plan_(plan) {
    first_ = set_.spec.ordinals ? set_.spec.ordinals->start : 0;
    end_ = OrdinalAfter(std::max(set_.spec.replicas.value_or(1), 0));
    for (const PodPtr& pod : input.pods) {
      const auto ordinal = OrdinalOf(set_.metadata.name, pod->metadata.name);
      if (!ordinal) continue;
      auto& where = *ordinal >= first_ && *ordinal < end_ ? members_ : surplus_;
      where[*ordinal] = pod;
    }
  }

  void Decide() {
    update_ = ChooseRevision({.owner = {kube::kStatefulSets, set_.metadata},
                              .pod_template = set_.spec.pod_template,
                              .revisions = input_.revisions,
                              .collision_count = set_.status.collision_count,
                              .is_taken = input_.revision_is_taken},
                             plan_);
    current_ = FindCurrent();
    ReportStatus();
    if (kube::IsBeingDeleted(set_.metadata) || !update_.usable) return;
    if (FillUp() && ShrinkDown()) RollOn();
    TidyUp();
  }

 private:
  int32_t OrdinalAfter(int32_t count) const { return ToReplicas(int64_t{first_} + count); }
  bool IsOrdered() const { return set_.spec.pod_management_policy != "Parallel"; }
  bool IsRollingUpdate() const { return set_.spec.update_strategy.type != "OnDelete"; }
  kube::StatefulSetRollingUpdate Rolling() const {
    return set_.spec.update_strategy.rolling_update.value_or(kube::StatefulSetRollingUpdate{});
  }
  bool IsHealthy(const kube::Pod& pod) const {
    return IsActive(pod) && IsAvailable(pod, set_.spec.min_ready_seconds, input_.now);
  }

  // The revision that the set is coming from; the update revision once it has arrived.
  std::string FindCurrent() const {
    for (const RevisionPtr& revision : input_.revisions) {
      if (revision->metadata.name == set_.status.current_revision) return revision->metadata.name;
    }
    return update_.name;
  }

  const Json& TemplateAt(const std::string& revision_name) const {
    for (const RevisionPtr& revision : input_.revisions) {
      const Json* found = TemplateOf(*revision);
      if (revision->metadata.name == revision_name && found != nullptr) return *found;
    }
    return set_.spec.pod_template;
  }

  // Which revision a pod that has to be made gets.
  const std::string& RevisionDue(int32_t ordinal) const {
    if (!IsRollingUpdate() || current_ == update_.name) return update_.name;
    const std::optional<int32_t> partition = Rolling().partition;
    const int32_t old_below =
        OrdinalAfter(partition.value_or(0) > 0 ? *partition : set_.status.current_replicas);
    return ordinal < old_below ? current_ : update_.name;
  }

  void Make(int32_t ordinal) {
    for (Json& claim : ClaimsOf(set_, ordinal)) {
      plan_.Add(CreateUnlessThere(kube::kPersistentVolumeClaims, std::move(claim)));
    }
    const std::string& revision = RevisionDue(ordinal);
    kube::Write write =
        Create(kube::kPods, StatefulPod(set_, TemplateAt(revision), revision, ordinal));
    plan_.Tell(kube::kStatefulSets, set_.metadata, "SuccessfulCreate",
               fmt::format("create Pod {} in StatefulSet {} successful", write.key.name,
                           set_.metadata.name));
    plan_.Add(std::move(write));
  }

  // The pod may have been made although its claim was refused.
  void MakeMissingClaims(int32_t ordinal) {
    for (Json& claim : ClaimsOf(set_, ordinal)) {
      if (input_.has_claim(std::string(kube::FindString(claim, {"metadata", "name"})))) continue;
      plan_.Add(CreateUnlessThere(kube::kPersistentVolumeClaims, std::move(claim)));
    }
  }

  void Remove(const kube::Pod& pod) {
    plan_.Tell(kube::kStatefulSets, set_.metadata, "SuccessfulDelete",
               fmt::format("delete Pod {} in StatefulSet {} successful", pod.metadata.name,
                           set_.metadata.name));
    plan_.Add(Delete(kube::kPods, pod.metadata));
  }

  // Makes what is missing. False while an ordered set has to wait before it may go on.
  bool FillUp() {
    int made = 0;
    for (int32_t ordinal = first_; ordinal < end_; ++ordinal) {
      const auto found = members_.find(ordinal);
      bool settled = false;
      if (found == members_.end()) {
        Make(ordinal);
        if (++made == kMostAtOnce) return false;
      } else if (kube::IsTerminal(*found->second)) {
        if (!kube::IsBeingDeleted(found->second->metadata)) Remove(*found->second);
      } else {
        if (found->second->status.phase == "Pending") MakeMissingClaims(ordinal);
        settled = IsHealthy(*found->second);
      }
      if (!settled && IsOrdered()) return false;
    }
    return true;
  }

  // Removes what is too much, the highest number first. False while any is left.
  bool ShrinkDown() {
    for (auto it = surplus_.rbegin(); it != surplus_.rend(); ++it) {
      const kube::Pod& pod = *it->second;
      if (!kube::IsBeingDeleted(pod.metadata)) Remove(pod);
      if (IsOrdered()) return false;
    }
    return surplus_.empty();
  }

  // Replaces pods of other revisions, from the highest number down to the partition.
  void RollOn() {
    if (!IsRollingUpdate()) return;
    const int32_t replicas = end_ - first_;
    int32_t budget = std::max(
        LimitOf(Rolling().max_unavailable, replicas, kube::IntOrString::Rounding::kCeil, 1), 1);
    const int32_t lowest = OrdinalAfter(std::max(Rolling().partition.value_or(0), 0));
    for (int32_t ordinal = end_ - 1; ordinal >= lowest && budget > 0; --ordinal) {
      const auto found = members_.find(ordinal);
      const bool exists = found != members_.end();
      const bool is_old = exists && RevisionOf(*found->second) != update_.name;
      if (is_old && !kube::IsBeingDeleted(found->second->metadata)) Remove(*found->second);
      if (!exists || is_old || !IsHealthy(*found->second)) --budget;
    }
  }

  void ReportStatus() {
    kube::StatefulSetStatus status = set_.status;
    status.observed_generation = set_.metadata.generation;
    status.replicas = status.ready_replicas = status.available_replicas = 0;
    status.current_replicas = status.updated_replicas = 0;
    for (const auto* pods : {&members_, &surplus_}) {
      for (const auto& [ordinal, pod] : *pods) Count(*pod, status);
    }
    status.update_revision = update_.name;
    status.current_revision = current_;
    const int32_t wanted = end_ - first_;
    if (IsRollingUpdate() && status.updated_replicas == wanted && status.replicas == wanted &&
        status.ready_replicas == wanted) {
      status.current_revision = update_.name;
      status.current_replicas = status.updated_replicas;
    }
    status.collision_count = set_.status.collision_count.value_or(0) + (update_.usable ? 0 : 1);
    plan_.Add(StatusPatch(kube::kStatefulSets, set_.metadata, kube::Encode(set_.status),
                          kube::Encode(status)));
    if (const auto left =
            UntilNextAvailable(input_.pods, set_.spec.min_ready_seconds, input_.now)) {
      plan_.AgainWithin(*left);
    }
  }

  void Count(const kube::Pod& pod, kube::StatefulSetStatus& status) const {
    ++status.replicas;
    status.ready_replicas += kube::IsReady(pod);
    status.available_replicas += IsAvailable(pod, set_.spec.min_ready_seconds, input_.now);
    if (!IsActive(pod)) return;
    status.current_replicas += RevisionOf(pod) == current_;
    status.updated_replicas += RevisionOf(pod) == update_.name;
  }

  void TidyUp() {
    std::vector<std::string> in_use = {current_, update_.name};
    for (const PodPtr& pod : input_.pods) in_use.emplace_back(RevisionOf(*pod));
    TidyRevisions(input_.revisions, in_use,
                  set_.spec.revision_history_limit.value_or(kDefaultHistory), plan_);
  }

  const StatefulSetInput& input_;
  const kube::StatefulSet& set_;
  kube::Plan& plan_;
  int32_t first_ = 0, end_ = 0;
  std::map<int32_t, PodPtr> members_, surplus_;
  RevisionChoice update_;
  std::string current_;
};

}  // namespace

void PlanStatefulSet(const StatefulSetInput& input, kube::Plan& plan) {
  SetPlanner(input, plan).Decide();
}

std::optional<int32_t> OrdinalOf(std::string_view set_name, std::string_view pod_name) {
  if (!pod_name.starts_with(set_name)) return std::nullopt;
  pod_name.remove_prefix(set_name.size());
  if (pod_name.size() < 2 || pod_name[0] != '-') return std::nullopt;
  const std::optional<uint64_t> number = ParseUint(pod_name.substr(1));
  if (!number || *number > uint64_t{std::numeric_limits<int32_t>::max()}) return std::nullopt;
  return static_cast<int32_t>(*number);
}

}  // namespace koord::localcluster
