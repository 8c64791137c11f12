#include "manager/profile/colocation_profile_controller.h"

#include <utility>

#include "api/keys.h"
#include "base/log.h"
#include "kube/api_error.h"
#include "kube/patch/merge_patch.h"
#include "kube/resources.h"

namespace koord::manager {
namespace {

using kube::Json;

std::string AppliedKey(const api::ClusterColocationProfile& profile, const std::string& pod_uid) {
  return profile.metadata.resource_version + "/" + pod_uid;
}

// What the profile changes of the pod, as a patch; `{}` if nothing.
StatusOr<Json> PatchFor(const api::ClusterColocationProfileSpec& spec, const Json& pod) {
  Json changed = pod;
  RETURN_IF_ERROR(
      ApplyProfile(spec, {.object = changed, .type = kube::FindBuiltinType("v1", "Pod")}));
  return kube::CreateMergePatch(pod, changed);
}

}  // namespace

ColocationProfileController::ColocationProfileController(const Inputs& inputs, Options options)
    : inputs_(inputs),
      options_(options),
      random_(options.seed),
      pace_(inputs.client.loop().clock(), options.qps, options.burst),
      queue_(inputs.client.loop(), [this](const std::string& name, kube::WorkQueue::Finish done) {
        Reconcile(name, std::move(done));
      }) {
  inputs_.profiles.AddHandler(
      scope_.Wrap([this](const ProfilePtr& before, const ProfilePtr& after) {
        if (!active_ || after == nullptr) return;
        if (before == nullptr || before->spec != after->spec ||
            before->metadata.labels != after->metadata.labels) {
          queue_.Add(after->metadata.name);
        }
      }));
}

void ColocationProfileController::Start() {
  active_ = true;
  for (const ProfilePtr& profile : inputs_.profiles.List()) queue_.Add(profile->metadata.name);
}

bool ColocationProfileController::IsHandled(const api::ClusterColocationProfile& profile) const {
  if (kube::IsBeingDeleted(profile.metadata)) return false;
  return options_.all_profiles ||
         kube::ValueOf(profile.metadata.labels, api::kLabelProfileControllerManaged) == "true";
}

void ColocationProfileController::Reconcile(const std::string& name, kube::WorkQueue::Finish done) {
  const ProfilePtr profile = inputs_.profiles.Get({"", name});
  if (!active_ || profile == nullptr || !IsHandled(*profile)) return done(true);
  Forget();
  const StatusOr<CompiledProfile> compiled = Compile(profile);
  const StatusOr<std::vector<kube::ObjectKey>> due =
      compiled.ok() ? Due(*compiled) : compiled.status();
  if (!due.ok()) {
    LOG_ERROR("Failed to apply a profile to pods", {"profile", name}, {"err", due.status()});
    return done(false);
  }
  auto left = std::make_shared<size_t>(due->size() + 1);
  const auto one_less = [this, left, name, done] {
    if (--*left > 0) return;
    queue_.AddAfter(name, options_.interval);
    done(true);
  };
  for (const kube::ObjectKey& pod : *due) ApplyTo(profile, pod, one_less);
  one_less();
}

std::vector<std::shared_ptr<const kube::Pod>> ColocationProfileController::PodsOf(
    const CompiledProfile& profile) const {
  std::vector<std::shared_ptr<const kube::Pod>> pods;
  // Here, unlike at admission, no selector means no pod.
  if (!profile.profile->spec.selector) return pods;
  for (const auto& pod : inputs_.pods.List()) {
    if (kube::IsAssigned(*pod) || pod->status.phase != "Pending") continue;
    if (!profile.objects.Matches(pod->metadata.labels)) continue;
    const auto ns = inputs_.namespaces.Get({"", pod->metadata.ns});
    if (ns == nullptr || !profile.namespaces.Matches(ns->metadata.labels)) continue;
    pods.push_back(pod);
  }
  return pods;
}

StatusOr<std::vector<kube::ObjectKey>> ColocationProfileController::Due(
    const CompiledProfile& profile) {
  std::vector<kube::ObjectKey> due;
  for (const auto& pod : PodsOf(profile)) {
    ASSIGN_OR_RETURN(const bool chosen, Chosen(profile.profile->spec, random_));
    if (!chosen || applied_.contains(AppliedKey(*profile.profile, pod->metadata.uid))) continue;
    if (!pace_.TryTake()) break;
    due.push_back(kube::KeyOf(pod->metadata));
  }
  return due;
}

// The whole pod is read first: a patch made from less could lose what we do not know of.
void ColocationProfileController::ApplyTo(const ProfilePtr& profile, const kube::ObjectKey& pod,
                                          std::function<void()> done) {
  const auto failed = [profile, pod](const Status& status) {
    LOG_ERROR("Failed to apply a profile to a pod", {"profile", profile->metadata.name},
              {"pod", pod.ToString()}, {"err", status});
  };
  inputs_.client.Get(
      kube::kPods, pod, scope_.Wrap([this, profile, pod, failed, done](StatusOr<Json> answer) {
        StatusOr<Json> patch = answer.ok() ? PatchFor(profile->spec, *answer) : answer.status();
        if (!patch.ok()) {
          if (!kube::IsNotFound(patch.status())) failed(patch.status());
          return done();
        }
        const std::string key =
            AppliedKey(*profile, std::string(kube::FindString(*answer, {"metadata", "uid"})));
        const SteadyTime now = inputs_.client.loop().clock().Steady();
        if (patch->get_object().empty()) {
          applied_[key] = now;
          return done();
        }
        kube::At(*patch, {"metadata", "resourceVersion"}) =
            kube::FindString(*answer, {"metadata", "resourceVersion"});
        inputs_.client.Patch(kube::kPods, pod, kube::PatchType::kMerge, *patch, {},
                             scope_.Wrap([this, key, now, failed, done](StatusOr<Json> written) {
                               if (written.ok()) {
                                 applied_[key] = now;
                               } else {
                                 failed(written.status());
                               }
                               done();
                             }));
      }));
}

void ColocationProfileController::Forget() {
  const SteadyTime now = inputs_.client.loop().clock().Steady();
  std::erase_if(applied_,
                [&](const auto& entry) { return now - entry.second >= options_.force_update; });
}

}  // namespace koord::manager
