#include "localcluster/controllers/garbagecollector/garbage_collector.h"

#include <algorithm>
#include <utility>

#include "kube/api_error.h"
#include "kube/resources.h"

namespace koord::localcluster {
namespace {

// How long an owner that exists, but that no watch has shown yet, is given before it is asked for
// again.
constexpr Duration kAskAgain = 1s;

bool IsCollectable(const kube::CatalogEntry& entry) {
  return entry.preferred && entry.Can("list") && entry.Can("watch") && entry.Can("delete") &&
         entry.resource.resource != "events";
}

}  // namespace

GarbageCollector::GarbageCollector(ControllerContext& context, kube::ResourceCatalog& catalog)
    : ClusterController("garbage-collector-controller", context), catalog_(catalog) {
  catalog_.OnChange(scope_.Wrap([this] { FollowCatalog(); }));
  informers().WhenSynced(scope_.Wrap([this] { StartWhenSynced(); }));
}

GarbageCollector::~GarbageCollector() = default;

void GarbageCollector::FollowCatalog() {
  std::set<kube::Resource> served;
  for (const kube::CatalogEntry& entry : catalog_.entries()) {
    if (!IsCollectable(entry)) continue;
    served.insert(entry.resource);
    WatchKind(entry.resource);
  }
  std::erase_if(monitors_, [&](const auto& monitor) { return !served.contains(monitor.first); });
  StartWhenSynced();
}

void GarbageCollector::WatchKind(const kube::Resource& resource) {
  if (monitors_.contains(resource) || shared_.contains(resource)) return;
  if (const kube::InformerSet::Source* source = informers().Find(resource)) {
    shared_.insert(resource);
    source->Watch(scope_.Wrap([this, resource](const auto& before, const auto& after) {
      OnObject(resource, before, after);
    }));
    return;
  }
  auto monitor = std::make_unique<Monitor>(context().client, resource,
                                           kube::InformerOptions{.seed = context().random()});
  const auto meta = [](const Monitor::Ptr& object) -> kube::InformerSet::MetaPtr {
    if (object == nullptr) return nullptr;
    return {object, &object->metadata};
  };
  monitor->AddHandler([this, resource, meta](const auto& before, const auto& after) {
    OnObject(resource, meta(before), meta(after));
  });
  monitor->WhenSynced([this] { StartWhenSynced(); });
  monitor->Start();
  monitors_.emplace(resource, std::move(monitor));
}

bool GarbageCollector::synced() const {
  return catalog_.known() &&
         std::all_of(monitors_.begin(), monitors_.end(),
                     [](const auto& monitor) { return monitor.second->synced(); });
}

void GarbageCollector::StartWhenSynced() {
  if (started_ || !synced() || !informers().synced()) return;
  started_ = true;
  for (const std::string& uid : graph_.AllUids()) {
    if (graph_.IsSuspect(uid)) Enqueue(uid);
  }
}

void GarbageCollector::OnObject(const kube::Resource& resource,
                                const kube::InformerSet::MetaPtr& before,
                                const kube::InformerSet::MetaPtr& after) {
  if (after != nullptr) {
    graph_.Put(resource, after);
    if (started_ && graph_.IsSuspect(after->uid)) Enqueue(after->uid);
    return;
  }
  const std::vector<std::string> dependents = graph_.DependentsOf(before->uid);
  graph_.Remove(before->uid);
  if (!started_) return;
  for (const std::string& uid : dependents) Enqueue(uid);
  // An owner may have waited for just this one.
  for (const kube::OwnerReference& owner : before->owner_references) {
    if (graph_.IsSuspect(owner.uid)) Enqueue(owner.uid);
  }
}

kube::Plan GarbageCollector::Decide(const std::string& uid) {
  if (!started_) return {};
  OwnershipGraph::Verdict verdict = graph_.Judge(uid);
  for (const std::string& other : verdict.look_at) Enqueue(other);
  for (const kube::OwnerReference& owner : verdict.unknown_owners) {
    FindOut(owner, graph_.Find(uid)->meta->ns);
  }
  return std::move(verdict.plan);
}

void GarbageCollector::FindOut(const kube::OwnerReference& owner, const std::string& ns) {
  const kube::CatalogEntry* entry = catalog_.FindKind(owner.api_version, owner.kind);
  // A kind that is not served yet may come; a namespaced owner of an object without namespace
  // cannot be found at all. Both are left alone.
  if (entry == nullptr || (entry->resource.namespaced && ns.empty())) return;
  if (!asking_.insert(owner.uid).second) return;
  const kube::ObjectKey key{entry->resource.namespaced ? ns : "", owner.name};
  context().client.Get(
      entry->resource, key, scope_.Wrap([this, uid = owner.uid](StatusOr<kube::Json> answer) {
        asking_.erase(uid);
        const bool other = answer.ok() && kube::FindString(*answer, {"metadata", "uid"}) != uid;
        const bool gone = other || kube::IsNotFound(answer.status());
        if (gone) graph_.MarkAbsent(uid);
        for (const std::string& dependent : graph_.DependentsOf(uid)) {
          EnqueueAfter(dependent, gone ? Duration::zero() : kAskAgain);
        }
      }));
}

}  // namespace koord::localcluster
