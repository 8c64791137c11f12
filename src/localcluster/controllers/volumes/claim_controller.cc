#include "localcluster/controllers/volumes/claim_controller.h"

#include "kube/objects/volume_claims.h"
#include "localcluster/controllers/volumes/claim_plan.h"
#include "localcluster/controllers/volumes/default_class.h"

namespace koord::localcluster {
namespace {

ProblemKey WaitOf(const std::string& claim) { return {.object = claim, .kind = "waits"}; }

}  // namespace

ClaimController::ClaimController(ControllerContext& context)
    : ClusterController("persistentvolume-controller", context) {
  Watch(informers().volume_claims, [this](const auto& before, const auto& after) {
    Enqueue(KeyText((after ? after : before)->metadata));
  });
  Watch(informers().volumes, [this](const auto& before, const auto& after) {
    if (before != nullptr) OnVolume(*before);
    if (after != nullptr) OnVolume(*after);
  });
  Watch(informers().storage_classes, [this](const auto&, const auto&) { EnqueueUnbound(); });
}

void ClaimController::OnVolume(const kube::PersistentVolume& volume) {
  const auto named =
      informers().volume_claims.ByIndex(ClusterInformers::kByVolume, volume.metadata.name);
  for (const auto& claim : named) Enqueue(KeyText(claim->metadata));
  if (const auto& reference = volume.spec.claim_ref) {
    Enqueue(kube::ObjectKey{reference->ns, reference->name}.ToString());
  } else if (volume.status.phase == "Available") {
    EnqueueUnbound();
  }
}

void ClaimController::EnqueueUnbound() {
  if (!informers().synced()) return;  // all are looked at then
  for (const auto& claim : informers().volume_claims.ByIndex(ClusterInformers::kByVolume, "")) {
    Enqueue(KeyText(claim->metadata));
  }
}

kube::Plan ClaimController::Decide(const std::string& key) {
  kube::Plan plan;
  const auto claim = informers().volume_claims.Get(kube::ParseKey(key));
  if (claim == nullptr) {
    known_problems_.Resolve(WaitOf(key));
    return plan;
  }
  const std::string storage_class(ClassOf(*claim));
  const auto& volumes = informers().volumes;
  PlanClaim({.claim = *claim,
             .named = volumes.Get({"", claim->spec.volume_name}),
             .reserved = volumes.ByIndex(ClusterInformers::kByClaim, key),
             .unclaimed = volumes.ByIndex(ClusterInformers::kByClaim,
                                          ClusterInformers::UnclaimedOf(storage_class)),
             .storage_class = informers().storage_classes.Get({"", storage_class}),
             .default_class = DefaultClassAmong(informers().storage_classes.List())},
            plan);
  TellOnce(key, plan);
  return plan;
}

// A claim that waits is looked at whenever a volume comes free: people hear why it waits once.
void ClaimController::TellOnce(const std::string& key, kube::Plan& plan) {
  if (!plan.writes.empty() || plan.notes.empty()) return known_problems_.Resolve(WaitOf(key));
  const kube::EventRecorder::Note& note = plan.notes.front();
  const std::string text = note.regarding.uid + note.reason + note.message;
  if (!known_problems_.IsNew(WaitOf(key), text)) plan.notes.clear();
}

}  // namespace koord::localcluster
