#include "localcluster/controllers/deployment/deployment_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"
#include "localcluster/controllers/common/template_hash.h"
#include "localcluster/controllers/deployment/deployment_status.h"

namespace koord::localcluster {
namespace {

using kube::Deployment;
using kube::Json;

constexpr int32_t kDefaultHistory = 10;

bool IsCopied(std::string_view annotation) {
  constexpr std::array<std::string_view, 5> kOwn = {
      "kubectl.kubernetes.io/last-applied-configuration", kRevision, kRevisionHistory,
      kDesiredReplicas, kMaxReplicas};
  return std::find(kOwn.begin(), kOwn.end(), annotation) == kOwn.end();
}

// One decision about one deployment.
class Rollout {
 public:
  Rollout(const DeploymentInput& input, kube::Plan& plan)
      : input_(input), deployment_(input.deployment), plan_(plan) {
    newest_ = FindNewest(deployment_, input.sets);
    for (const ReplicaSetPtr& set : input.sets) {
      if (set != newest_) old_.push_back(set);
    }
  }

  void Decide() {
    if (!kube::IsBeingDeleted(deployment_.metadata)) Act();
    const kube::DeploymentStatus status = ReportStatus();
    if (!kube::IsBeingDeleted(deployment_.metadata) && IsComplete(deployment_, status)) {
      TidyHistory();
    }
  }

 private:
  void Act() {
    if (deployment_.spec.paused || (IsRolling(deployment_) && IsScaled())) {
      Scale();
    } else if (IsRolling(deployment_)) {
      Roll();
    } else {
      Recreate();
    }
  }

  // The wanted number differs from the one that the sets were made for.
  bool IsScaled() const {
    return std::any_of(input_.sets.begin(), input_.sets.end(), [&](const ReplicaSetPtr& set) {
      const std::optional<int32_t> desired = IntAnnotation(set->metadata, kDesiredReplicas);
      return WantedBy(*set) > 0 && desired && *desired != WantedBy(deployment_);
    });
  }

  void Scale() {
    ReplicaSetList active;
    std::copy_if(input_.sets.begin(), input_.sets.end(), std::back_inserter(active),
                 [](const ReplicaSetPtr& set) { return WantedBy(*set) > 0; });
    if (active.size() <= 1) {
      const ReplicaSetPtr only = active.empty() ? newest_ : active.front();
      if (only != nullptr) SetSize(*only, WantedBy(deployment_));
    } else if (newest_ != nullptr && IsSaturated(*newest_)) {
      for (const ReplicaSetPtr& set : old_) SetSize(*set, 0);
    } else if (IsRolling(deployment_)) {
      for (const Resize& resize : ScaleInProportion(deployment_, active)) {
        SetSize(*resize.set, resize.replicas);
      }
    }
  }

  bool IsSaturated(const kube::ReplicaSet& set) const {
    const int32_t wanted = WantedBy(deployment_);
    return WantedBy(set) == wanted && IntAnnotation(set.metadata, kDesiredReplicas) == wanted &&
           set.status.available_replicas == wanted;
  }

  void Roll() {
    if (newest_ == nullptr) return MakeNewest();
    NumberRevision();
    const int32_t size = NewSetSize(deployment_, input_.sets, WantedBy(*newest_));
    if (size != WantedBy(*newest_)) return SetSize(*newest_, size);
    for (const Resize& resize : ShrinkOldSets(deployment_, old_, *newest_)) {
      SetSize(*resize.set, resize.replicas);
    }
  }

  void Recreate() {
    bool shrinking = false;
    for (const ReplicaSetPtr& set : old_) {
      shrinking |= WantedBy(*set) > 0;
      SetSize(*set, 0);
    }
    if (shrinking || input_.old_pods_run) return;
    if (newest_ == nullptr) return MakeNewest();
    NumberRevision();
    SetSize(*newest_, WantedBy(deployment_));
  }

  int64_t NextRevision() const {
    int64_t highest = 0;
    for (const ReplicaSetPtr& set : old_) {
      highest = std::max<int64_t>(highest, IntAnnotation(set->metadata, kRevision).value_or(0));
    }
    return highest + 1;
  }

  std::string MaxReplicas() const { return std::to_string(MostReplicas(deployment_)); }

  kube::json::object SizeAnnotations() const {
    return {{kDesiredReplicas, std::to_string(WantedBy(deployment_))},
            {kMaxReplicas, MaxReplicas()}};
  }

  void MakeNewest() {
    const Json plain = WithoutTemplateHash(deployment_.spec.pod_template);
    const std::string hash = HashName(plain, deployment_.status.collision_count);
    const std::string name = deployment_.metadata.name + "-" + hash;
    if (input_.is_taken(name)) {
      collided_ = true;
      return;
    }
    const int32_t size = NewSetSize(deployment_, input_.sets, 0);
    plan_.Add(Create(kube::kReplicaSets, NewSet(name, hash, size)));
    SetOwnRevision(std::to_string(NextRevision()));
    if (size > 0) {
      plan_.Tell(kube::kDeployments, deployment_.metadata, "ScalingReplicaSet",
                 fmt::format("Scaled up replica set {} from 0 to {}", name, size));
    }
    created_ = name;
  }

  Json NewSet(const std::string& name, const std::string& hash, int32_t size) const {
    const Owner owner{kube::kDeployments, deployment_.metadata};
    Json pod_template = WithoutTemplateHash(deployment_.spec.pod_template);
    kube::At(pod_template, {"metadata", "labels", kPodTemplateHash}) = hash;
    Json selector = kube::Encode(deployment_.spec.selector.value_or(kube::LabelSelector{}));
    kube::At(selector, {"matchLabels", kPodTemplateHash}) = hash;
    kube::json::object annotations = SizeAnnotations();
    for (const auto& [key, value] : deployment_.metadata.annotations) {
      if (IsCopied(key)) annotations.emplace(key, value);
    }
    annotations.emplace(kRevision, std::to_string(NextRevision()));
    Json set{{"metadata",
              {{"name", name},
               {"namespace", deployment_.metadata.ns},
               {"labels", kube::At(pod_template, {"metadata", "labels"})},
               {"annotations", std::move(annotations)},
               {"ownerReferences", kube::json::array{ControllerReference(owner)}}}},
             {"spec", {{"replicas", size}, {"selector", std::move(selector)}}}};
    kube::At(set, {"spec", "template"}) = std::move(pod_template);
    if (deployment_.spec.min_ready_seconds > 0) {
      kube::At(set, {"spec", "minReadySeconds"}) = deployment_.spec.min_ready_seconds;
    }
    return set;
  }

  // Gives a set that has just become the newest (again) the next number, and keeps what the
  // deployment says about it up to date.
  void NumberRevision() {
    const kube::ObjectMeta& meta = newest_->metadata;
    const std::string_view before = kube::ValueOf(meta.annotations, kRevision);
    const int64_t next = NextRevision();
    std::string revision(before);
    kube::json::object annotations;
    if (IntAnnotation(meta, kRevision).value_or(0) < next) {
      revision = std::to_string(next);
      annotations.emplace(kRevision, revision);
      if (!before.empty()) {
        const std::string_view history = kube::ValueOf(meta.annotations, kRevisionHistory);
        annotations.emplace(kRevisionHistory, history.empty()
                                                  ? std::string(before)
                                                  : fmt::format("{},{}", history, before));
      }
    }
    for (const auto& [key, value] : deployment_.metadata.annotations) {
      if (IsCopied(key) && kube::ValueOf(meta.annotations, key) != value) {
        annotations.emplace(key, value);
      }
    }
    Json patch = kube::json::object{};
    if (!annotations.empty()) kube::At(patch, {"metadata", "annotations"}) = annotations;
    if (newest_->spec.min_ready_seconds != deployment_.spec.min_ready_seconds) {
      kube::At(patch, {"spec", "minReadySeconds"}) = deployment_.spec.min_ready_seconds;
    }
    if (!patch.as_object().empty()) plan_.Add(MergePatch(kube::kReplicaSets, meta, patch));
    SetOwnRevision(revision);
  }

  void SetOwnRevision(const std::string& revision) {
    if (kube::ValueOf(deployment_.metadata.annotations, kRevision) == revision) return;
    kube::Write write = MergePatch(kube::kDeployments, deployment_.metadata,
                                   {{"metadata", {{"annotations", {{kRevision, revision}}}}}});
    // On the main endpoint an annotation would count as a new generation.
    write.subresource = "status";
    plan_.Add(std::move(write));
  }

  void SetSize(const kube::ReplicaSet& set, int32_t size) {
    const int32_t before = WantedBy(set);
    const bool noted = IntAnnotation(set.metadata, kDesiredReplicas) == WantedBy(deployment_) &&
                       kube::ValueOf(set.metadata.annotations, kMaxReplicas) == MaxReplicas();
    if (size == before && (noted || size == 0)) return;
    Json patch{{"metadata", {{"uid", set.metadata.uid}, {"annotations", SizeAnnotations()}}}};
    if (size != before) kube::At(patch, {"spec", "replicas"}) = size;
    plan_.Add(MergePatch(kube::kReplicaSets, set.metadata, std::move(patch)));
    if (size == before) return;
    plan_.Tell(kube::kDeployments, deployment_.metadata, "ScalingReplicaSet",
               fmt::format("Scaled {} replica set {} from {} to {}", size > before ? "up" : "down",
                           set.metadata.name, before, size));
  }

  kube::DeploymentStatus ReportStatus() {
    kube::DeploymentStatus status = StatusOf({.deployment = deployment_,
                                              .sets = input_.sets,
                                              .newest = newest_.get(),
                                              .created = created_.empty() ? nullptr : &created_,
                                              .now = input_.now});
    if (collided_) status.collision_count = status.collision_count.value_or(0) + 1;
    plan_.Add(StatusPatch(kube::kDeployments, deployment_.metadata,
                          kube::Encode(deployment_.status), kube::Encode(status)));
    if (const auto deadline = ProgressDeadline(deployment_, status)) {
      plan_.AgainWithin(std::max<Duration>(*deadline - input_.now, 1s));
    }
    return status;
  }

  void TidyHistory() {
    ReplicaSetList unused;
    std::copy_if(old_.begin(), old_.end(), std::back_inserter(unused), [](const auto& set) {
      return WantedBy(*set) == 0 && set->status.replicas == 0 &&
             set->metadata.generation <= set->status.observed_generation &&
             !kube::IsBeingDeleted(set->metadata);
    });
    const auto keep = static_cast<size_t>(
        std::max(deployment_.spec.revision_history_limit.value_or(kDefaultHistory), 0));
    if (unused.size() <= keep) return;
    std::sort(unused.begin(), unused.end(), [](const auto& a, const auto& b) {
      const int32_t left = IntAnnotation(a->metadata, kRevision).value_or(0);
      const int32_t right = IntAnnotation(b->metadata, kRevision).value_or(0);
      return std::tie(left, a->metadata.name) < std::tie(right, b->metadata.name);
    });
    for (size_t i = 0; i < unused.size() - keep; ++i) {
      plan_.Add(Delete(kube::kReplicaSets, unused[i]->metadata));
    }
  }

  const DeploymentInput& input_;
  const Deployment& deployment_;
  kube::Plan& plan_;
  ReplicaSetPtr newest_;
  ReplicaSetList old_;
  std::string created_;
  bool collided_ = false;
};

}  // namespace

ReplicaSetPtr FindNewest(const Deployment& deployment, const ReplicaSetList& sets) {
  const Json wanted = WithoutTemplateHash(deployment.spec.pod_template);
  ReplicaSetPtr found;
  for (const ReplicaSetPtr& set : sets) {
    if (!kube::Equal(WithoutTemplateHash(set->spec.pod_template), wanted)) continue;
    if (found == nullptr || set->metadata.creation_timestamp < found->metadata.creation_timestamp) {
      found = set;
    }
  }
  return found;
}

void PlanDeployment(const DeploymentInput& input, kube::Plan& plan) {
  Rollout(input, plan).Decide();
}

}  // namespace koord::localcluster
