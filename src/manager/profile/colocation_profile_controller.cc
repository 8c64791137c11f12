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
    : Controller(std::string(kName), inputs.parts, {.concurrency = 1, .by_leadership = true}),
      inputs_(inputs),
      options_(options),
      random_(options.seed),
      pace_(clock(), options.qps, options.burst) {
  Watch(inputs_.profiles, [this](const ProfilePtr& before, const ProfilePtr& after) {
    if (after == nullptr) return;
    if (before == nullptr || before->spec != after->spec ||
        before->metadata.labels != after->metadata.labels) {
      Enqueue(after->metadata.name);
    }
  });
}

std::vector<std::string> ColocationProfileController::AllKeys() const {
  std::vector<std::string> names;
  for (const ProfilePtr& profile : inputs_.profiles.List()) names.push_back(profile->metadata.name);
  return names;
}

bool ColocationProfileController::IsHandled(const api::ClusterColocationProfile& profile) const {
  if (kube::IsBeingDeleted(profile.metadata)) return false;
  return options_.all_profiles ||
         kube::ValueOf(profile.metadata.labels, api::kLabelProfileControllerManaged) == "true";
}

// Whole pods are read first: a patch made from less could lose what we do not know of.
void ColocationProfileController::Prepare(const std::string& name, std::function<void()> ready) {
  const ProfilePtr profile = inputs_.profiles.Get({"", name});
  round_ = {};
  if (profile == nullptr || !IsHandled(*profile)) return ready();
  Forget();
  const StatusOr<CompiledProfile> compiled = Compile(profile);
  const StatusOr<std::vector<kube::ObjectKey>> due =
      compiled.ok() ? Due(*compiled) : compiled.status();
  round_ = {.profile = profile, .status = due.status(), .pods = {}};
  if (!due.ok()) return ready();
  auto left = std::make_shared<size_t>(due->size() + 1);
  const auto one_less = [left, ready = std::move(ready)] {
    if (--*left == 0) ready();
  };
  for (const kube::ObjectKey& pod : *due) Read(pod, one_less);
  one_less();
}

void ColocationProfileController::Read(const kube::ObjectKey& pod, std::function<void()> done) {
  client().Get(kube::kPods, pod, scope().Wrap([this, pod, done](StatusOr<Json> answer) {
    if (answer.ok()) {
      round_.pods.push_back(*std::move(answer));
    } else if (!kube::IsNotFound(answer.status())) {
      LogFailure(pod, answer.status());
    }
    done();
  }));
}

kube::Plan ColocationProfileController::Decide(const std::string& name) {
  kube::Plan plan;
  if (round_.profile == nullptr) return plan;
  if (!round_.status.ok()) {
    LOG_ERROR("Failed to apply a profile to pods", {"profile", name}, {"err", round_.status});
    plan.undecided = true;
    return plan;
  }
  for (const Json& pod : round_.pods) plan.Add(ApplyTo(pod));
  plan.again = plan.retry = options_.interval;
  return plan;
}

std::optional<kube::Write> ColocationProfileController::ApplyTo(const Json& pod) {
  StatusOr<Json> patch = PatchFor(round_.profile->spec, pod);
  const kube::ObjectKey key = kube::ObjectKeyOf(pod);
  if (!patch.ok()) {
    LogFailure(key, patch.status());
    return std::nullopt;
  }
  if (patch->get_object().empty()) {
    NoteApplied(pod);
    return std::nullopt;
  }
  kube::At(*patch, {"metadata", "resourceVersion"}) =
      kube::FindString(pod, {"metadata", "resourceVersion"});
  kube::Write write = MergePatch(kube::kPods, {.name = key.name, .ns = key.ns}, *std::move(patch));
  write.independent = true;
  return write;
}

void ColocationProfileController::OnWritten(const std::string&, const kube::Write& write,
                                            const Json& answer) {
  if (answer.is_null()) return;
  for (const Json& pod : round_.pods) {
    if (kube::ObjectKeyOf(pod) == write.key) NoteApplied(pod);
  }
}

void ColocationProfileController::NoteApplied(const Json& pod) {
  const std::string uid(kube::FindString(pod, {"metadata", "uid"}));
  applied_[AppliedKey(*round_.profile, uid)] = clock().Steady();
}

void ColocationProfileController::OnRefused(const std::string&, const kube::Write& write,
                                            const Status& status) {
  LogFailure(write.key, status);
}

void ColocationProfileController::LogFailure(const kube::ObjectKey& pod,
                                             const Status& status) const {
  LOG_ERROR("Failed to apply a profile to a pod", {"profile", round_.profile->metadata.name},
            {"pod", pod.ToString()}, {"err", status});
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

void ColocationProfileController::Forget() {
  const SteadyTime now = clock().Steady();
  std::erase_if(applied_,
                [&](const auto& entry) { return now - entry.second >= options_.force_update; });
}

}  // namespace koord::manager
