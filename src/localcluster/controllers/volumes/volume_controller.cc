#include "localcluster/controllers/volumes/volume_controller.h"

#include "kube/api_error.h"
#include "kube/resources.h"
#include "localcluster/controllers/volumes/volume_plan.h"

namespace koord::localcluster {
namespace {

// How long a claim that exists, but that no watch has shown yet, is given before it is asked for
// again.
constexpr Duration kAskAgain = 1s;

}  // namespace

VolumeController::VolumeController(ControllerContext& context)
    : ClusterController("persistentvolume-controller", context) {
  Watch(informers().volumes, [this](const auto& before, const auto& after) {
    Enqueue(KeyText((after ? after : before)->metadata));
  });
  Watch(informers().volume_claims,
        [this](const auto& before, const auto& after) { OnClaim(after ? *after : *before); });
}

void VolumeController::OnClaim(const kube::PersistentVolumeClaim& claim) {
  const auto held =
      informers().volumes.ByIndex(ClusterInformers::kByClaim, KeyText(claim.metadata));
  for (const auto& volume : held) Enqueue(KeyText(volume->metadata));
}

kube::Plan VolumeController::Decide(const std::string& key) {
  kube::Plan plan;
  const auto volume = informers().volumes.Get(kube::ParseKey(key));
  if (volume == nullptr) {
    gone_.erase(key);
    return plan;
  }
  const kube::ObjectReference reference = volume->spec.claim_ref.value_or(kube::ObjectReference{});
  const auto gone = gone_.find(key);
  const VolumeInput input{.volume = *volume,
                          .claim = informers().volume_claims.Get({reference.ns, reference.name}),
                          .claim_gone = gone != gone_.end() && gone->second == reference.uid};
  if (NeedsToKnowTheClaim(input)) {
    FindOut(key, reference);
  } else {
    PlanVolume(input, plan);
  }
  return plan;
}

void VolumeController::FindOut(const std::string& key, const kube::ObjectReference& claim) {
  if (!asking_.insert(key).second) return;
  const auto answered = [this, key, uid = claim.uid](const StatusOr<kube::Json>& answer) {
    asking_.erase(key);
    const bool other = answer.ok() && kube::FindString(*answer, {"metadata", "uid"}) != uid;
    const bool gone = other || kube::IsNotFound(answer.status());
    if (gone) gone_[key] = uid;
    EnqueueAfter(key, gone ? Duration::zero() : kAskAgain);
  };
  context().client.Get(kube::kPersistentVolumeClaims, {claim.ns, claim.name},
                       scope_.Wrap(answered));
}

}  // namespace koord::localcluster
