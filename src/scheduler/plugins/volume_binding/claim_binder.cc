#include "scheduler/plugins/volume_binding/claim_binder.h"

#include <fmt/format.h>

#include "kube/resources.h"
#include "scheduler/plugins/volume_binding/claim_plan.h"
#include "scheduler/volumes/pod_claims.h"

namespace koord::scheduler {
namespace {

Verdict Failed(std::string_view why) {
  return Verdict::Error(fmt::format("binding volumes: {}", why));
}

kube::json::object MetadataPatch(const kube::ObjectMeta& meta, std::string_view annotation,
                                 std::string_view value) {
  kube::json::object patch{{"annotations", kube::json::object{{annotation, value}}}};
  if (!meta.resource_version.empty()) patch.emplace("resourceVersion", meta.resource_version);
  return patch;
}

kube::Json ClaimRefPatch(const kube::PersistentVolume& volume,
                         const kube::PersistentVolumeClaim& claim) {
  return kube::json::object{
      {"metadata", MetadataPatch(volume.metadata, kube::kAnnotationBoundByController, "yes")},
      {"spec", kube::json::object{{"claimRef", kube::json::object{{"apiVersion", "v1"},
                                                                  {"kind", "PersistentVolumeClaim"},
                                                                  {"namespace", claim.metadata.ns},
                                                                  {"name", claim.metadata.name},
                                                                  {"uid", claim.metadata.uid}}}}}};
}

}  // namespace

struct ClaimBinder::Work {
  Work(EventLoop& loop, ClaimBindings bindings, VerdictDone done)
      : bindings(std::move(bindings)), done(std::move(done)), timer(loop) {}

  ClaimBindings bindings;
  VerdictDone done;
  Timer timer;
  size_t writes = 0;  // under way
  bool ended = false;
  // Claims as they were when they were written to: until a newer one is seen, the write has not
  // come back yet.
  absl::btree_map<kube::ObjectKey, std::string> written;
};

ClaimBinder::ClaimBinder(const PluginContext& context, Duration timeout)
    : context_(context), timeout_(timeout) {
  context_.objects.persistent_volume_claims.AddWatcher(
      [this](const auto&, const auto&) { LookAtAll(); });
  context_.objects.persistent_volumes.AddWatcher([this](const auto&, const auto&) { LookAtAll(); });
}

ClaimBinder::~ClaimBinder() {
  for (auto& [uid, work] : works_) work->ended = true;
}

void ClaimBinder::Start(const std::string& uid, ClaimBindings bindings, VerdictDone done) {
  auto work = std::make_shared<Work>(context_.loop, std::move(bindings), std::move(done));
  works_.insert_or_assign(uid, work);
  work->timer.Set(timeout_, [this, weak = std::weak_ptr(work)] {
    if (const auto late = weak.lock()) Finish(late, Failed("context deadline exceeded"));
  });
  Write(work);
  if (!work->ended && work->writes == 0) Look(work);
}

void ClaimBinder::Cancel(const std::string& uid) {
  const auto at = works_.find(uid);
  if (at == works_.end()) return;
  at->second->ended = true;
  at->second->timer.Cancel();
  works_.erase(at);
}

void ClaimBinder::Write(const std::shared_ptr<Work>& work) {
  const ClusterObjects& objects = context_.objects;
  const auto missing = [&](std::string_view what, const kube::ObjectKey& key) {
    Finish(work, Failed(fmt::format("{} \"{}\" not found", what, key.ToString())));
  };
  for (const ClaimBindings::Bind& bind : work->bindings.binds) {
    const auto* claim = objects.persistent_volume_claims.Find(bind.claim);
    const auto* volume = objects.persistent_volumes.Find(bind.volume);
    if (claim == nullptr) return missing("persistentvolumeclaim", bind.claim);
    if (volume == nullptr) return missing("persistentvolume", {"", bind.volume});
    const auto& reference = volume->spec.claim_ref;
    if (IsBoundTo(*volume, *claim) && !reference->uid.empty()) continue;
    Patch(work, kube::kPersistentVolumes, {"", bind.volume}, ClaimRefPatch(*volume, *claim));
  }
  for (const kube::ObjectKey& key : work->bindings.provisions) {
    const auto* claim = objects.persistent_volume_claims.Find(key);
    if (claim == nullptr) return missing("persistentvolumeclaim", key);
    const std::string& node = work->bindings.node;
    if (kube::ValueOf(claim->metadata.annotations, kube::kAnnotationSelectedNode) == node) continue;
    work->written.emplace(key, claim->metadata.resource_version);
    Patch(work, kube::kPersistentVolumeClaims, key,
          kube::json::object{
              {"metadata", MetadataPatch(claim->metadata, kube::kAnnotationSelectedNode, node)}});
  }
}

void ClaimBinder::Patch(const std::shared_ptr<Work>& work, const kube::Resource& resource,
                        const kube::ObjectKey& key, const kube::Json& patch) {
  ++work->writes;
  context_.client->Patch(resource, key, kube::PatchType::kMerge, patch, {},
                         [this, work](StatusOr<kube::Json> answer) {
                           --work->writes;
                           if (work->ended) return;
                           if (!answer.ok()) return Finish(work, Failed(Message(answer.status())));
                           if (work->writes == 0) Look(work);
                         });
}

void ClaimBinder::LookAtAll() {
  if (works_.empty()) return;
  std::vector<std::shared_ptr<Work>> works;  // finishing one may start or cancel others
  for (const auto& [uid, work] : works_) works.push_back(work);
  for (const auto& work : works) {
    if (!work->ended && work->writes == 0) Look(work);
  }
}

void ClaimBinder::Look(const std::shared_ptr<Work>& work) {
  const StatusOr<bool> bound = AreBound(*work);
  if (!bound.ok()) return Finish(work, Failed(Message(bound.status())));
  if (*bound) Finish(work, Verdict::Success());
}

StatusOr<bool> ClaimBinder::AreBound(const Work& work) const {
  const ClusterObjects& objects = context_.objects;
  for (const ClaimBindings::Bind& bind : work.bindings.binds) {
    const auto* claim = objects.persistent_volume_claims.Find(bind.claim);
    if (claim == nullptr) return NotFound("PVC {} does not exist", bind.claim.ToString());
    const auto* volume = objects.persistent_volumes.Find(bind.volume);
    if (volume == nullptr) return NotFound("PV {} does not exist", bind.volume);
    if (!IsBound(*claim) || !IsBoundTo(*volume, *claim)) return false;
  }
  for (const kube::ObjectKey& key : work.bindings.provisions) {
    const auto* claim = objects.persistent_volume_claims.Find(key);
    if (claim == nullptr) return NotFound("PVC {} does not exist", key.ToString());
    if (IsBound(*claim)) {
      const auto* volume = VolumeOf(*claim, objects);
      if (volume == nullptr) return false;
      RETURN_IF_ERROR(CheckNode(*volume, work));
      continue;
    }
    const auto written = work.written.find(key);
    const bool unseen =
        written != work.written.end() && written->second == claim->metadata.resource_version;
    // A provisioner that cannot do it on this node takes the choice back.
    if (!unseen && kube::ValueOf(claim->metadata.annotations, kube::kAnnotationSelectedNode) !=
                       work.bindings.node) {
      return FailedPrecondition("selectedNode annotation reset for PVC \"{}\"", key.name);
    }
    return false;
  }
  return true;
}

Status ClaimBinder::CheckNode(const kube::PersistentVolume& volume, const Work& work) const {
  const kube::NodeSelector* where = NodesOf(volume);
  const auto row = context_.nodes().Find(work.bindings.node);
  if (where == nullptr || !row) return absl::OkStatus();
  if (Matches(*where, work.bindings.node, context_.nodes().node(*row).metadata.labels)) {
    return absl::OkStatus();
  }
  return FailedPrecondition("pv \"{}\" node affinity doesn't match node \"{}\"",
                            volume.metadata.name, work.bindings.node);
}

void ClaimBinder::Finish(const std::shared_ptr<Work>& work, Verdict verdict) {
  if (std::exchange(work->ended, true)) return;
  work->timer.Cancel();
  absl::erase_if(works_, [&](const auto& each) { return each.second == work; });
  work->done(std::move(verdict));
}

}  // namespace koord::scheduler
