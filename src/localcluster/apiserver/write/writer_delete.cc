#include <algorithm>
#include <utility>

#include "base/duration.h"
#include "kube/resources.h"
#include "kube/time.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/object_meta.h"
#include "localcluster/apiserver/core/versions.h"
#include "localcluster/apiserver/crd/definition.h"
#include "localcluster/apiserver/registry/json_edit.h"
#include "localcluster/apiserver/registry/registry.h"
#include "localcluster/apiserver/write/writer.h"
#include "localcluster/apiserver/write/writer_admission.h"

namespace koord::apiserver {
namespace {

constexpr int kDeleteAttempts = 5;
constexpr char kOrphan[] = "orphan";
constexpr char kForeground[] = "foregroundDeletion";

json::object& MetaOf(Json& object) { return object.as_object()["metadata"].as_object(); }

bool IsNamespace(const ResourceInfo& info) { return info.stored_as() == "namespaces"; }

// Whether dependents are orphaned or deleted first is written into the finalizers, for the garbage
// collector to find.
void SetPropagation(Json& object, const DeleteOptions& options) {
  std::string policy = options.propagation;
  if (policy.empty() && options.orphan_dependents) {
    policy = *options.orphan_dependents ? "Orphan" : "Background";
  }
  if (policy.empty()) return;
  json::object& meta = MetaOf(object);
  json::array kept;
  if (const json::array* finalizers = kube::FindArray(object, {"metadata", "finalizers"})) {
    for (const Json& name : *finalizers) {
      if (name != kOrphan && name != kForeground) kept.push_back(name);
    }
  }
  if (policy == "Orphan") kept.emplace_back(kOrphan);
  if (policy == "Foreground") kept.emplace_back(kForeground);
  if (kept.empty()) {
    meta.erase("finalizers");
  } else {
    meta["finalizers"] = std::move(kept);
  }
}

// A definition stays until its objects are gone.
void HoldDefinition(Json& crd, WallTime now) {
  if (!IsBeingDeleted(crd)) {
    Json& finalizers = kube::At(crd, {"metadata", "finalizers"});
    if (!finalizers.is_array()) finalizers.emplace_array();
    finalizers.get_array().emplace_back(kDefinitionCleanupFinalizer);
  }
  MarkDefinitionTerminating(crd, now);
}

void BumpForDeletion(json::object& meta) {
  const Json* generation = meta.if_contains("generation");
  if (generation != nullptr && generation->is_int64() && generation->get_int64() > 0) {
    meta["generation"] = generation->get_int64() + 1;
  }
}

// How long a pod may take to end.
int64_t GracePeriod(const Json& pod, const DeleteOptions& options) {
  const std::string_view phase = kube::FindString(pod, {"status", "phase"});
  const bool runs = !kube::FindString(pod, {"spec", "nodeName"}).empty() && phase != "Succeeded" &&
                    phase != "Failed";
  if (!runs) return 0;
  const int64_t own = kube::FindInt(pod, {"spec", "terminationGracePeriodSeconds"});
  const int64_t period = options.grace_seconds.value_or(own);
  return period < 0 ? 1 : period;
}

enum class Grace {
  kOver,     // nothing to wait for
  kStarted,  // the object has been changed and waits
  kPending,  // it waits already, and nothing changes
};

// A second deletion may only shorten the wait.
Grace ShortenGrace(Json& pod, const DeleteOptions& options, WallTime now) {
  json::object& meta = MetaOf(pod);
  const Json* stored = meta.if_contains("deletionGracePeriodSeconds");
  if (stored == nullptr || *stored == 0) return Grace::kOver;
  if (!options.grace_seconds) return Grace::kPending;
  const int64_t current = std::max<int64_t>(kube::FindInt(*stored, {}), 1);
  int64_t wanted = *options.grace_seconds < 0 ? 1 : *options.grace_seconds;
  if (wanted >= current) return Grace::kPending;
  const auto end = kube::ParseTime(kube::FindString(pod, {"metadata", "deletionTimestamp"}));
  WallTime sooner = end.value_or(now) - BoundedSeconds(current) + BoundedSeconds(wanted);
  if (sooner < now) {
    sooner = now;
    if (wanted != 0) wanted = 1;
  }
  meta["deletionTimestamp"] = kube::FormatTime(sooner);
  meta["deletionGracePeriodSeconds"] = wanted;
  return wanted == 0 ? Grace::kOver : Grace::kStarted;
}

Grace StartGrace(Json& pod, const DeleteOptions& options, WallTime now) {
  if (IsBeingDeleted(pod)) return ShortenGrace(pod, options, now);
  const int64_t period = GracePeriod(pod, options);
  json::object& meta = MetaOf(pod);
  meta["deletionTimestamp"] = kube::FormatTime(now + BoundedSeconds(period));
  meta["deletionGracePeriodSeconds"] = period;
  BumpForDeletion(meta);
  return period == 0 ? Grace::kOver : Grace::kStarted;
}

// Marks an object that finalizers keep from going.
void MarkDeleted(Json& object, WallTime now) {
  json::object& meta = MetaOf(object);
  const auto when = kube::ParseTime(kube::FindString(object, {"metadata", "deletionTimestamp"}));
  if (!when) BumpForDeletion(meta);
  if (!when || *when > now) meta["deletionTimestamp"] = kube::FormatTime(now);
  meta["deletionGracePeriodSeconds"] = 0;
}

}  // namespace

// One object on its way out.
class Writer::Deletion : public std::enable_shared_from_this<Deletion> {
 public:
  Deletion(Writer& writer, WriteIntent intent, DeleteOptions options, Done done)
      : writer_(writer),
        core_(writer.core_),
        intent_(std::move(intent)),
        key_(KeyOf(intent_.ns, intent_.name)),
        options_(std::move(options)),
        done_(std::move(done)) {}

  void Attempt() {
    const ResourceInfo& info = *intent_.info;
    current_ = core_.store.Get(info.stored_as(), key_);
    if (current_ == nullptr) return done_(ObjectNotFound(info.resource, intent_.name));
    object_ = LoadObject(core_, info, *current_);
    Status status = writer_.builtin_.Delete(info, intent_.name);
    if (status.ok()) status = CheckPreconditions();
    if (!status.ok()) return done_(status);
    MutateByWebhooks(writer_.webhooks_, core_, intent_, Operation::kDelete, object_, nullptr,
                     [self = shared_from_this()](Status outcome) { self->OnMutated(outcome); });
  }

 private:
  Status CheckPreconditions() const {
    const std::string_view uid = kube::FindString(object_, {"metadata", "uid"});
    const std::string_view version = kube::FindString(object_, {"metadata", "resourceVersion"});
    if (!options_.uid.empty() && options_.uid != uid) {
      return Failed("UID", options_.uid, uid,
                    "The object might have been deleted and then recreated");
    }
    if (!options_.resource_version.empty() && options_.resource_version != version) {
      return Failed("ResourceVersion", options_.resource_version, version,
                    "The object might have been modified");
    }
    return absl::OkStatus();
  }

  Status Failed(std::string_view what, std::string_view wanted, std::string_view found,
                std::string_view hint) const {
    const kube::Resource& resource = intent_.info->resource;
    if (IsNamespace(*intent_.info)) {
      return Conflict(resource.qualified(), intent_.name,
                      fmt::format("Precondition failed: {0} in precondition: {1}, {0} in object "
                                  "meta: {2}",
                                  what, wanted, found));
    }
    const std::string kind =
        resource.group.empty() ? resource.kind : resource.kind + "." + resource.group;
    return Conflict(
        kind, intent_.name,
        fmt::format("the {0} in the precondition ({1}) does not match the {0} in record "
                    "({2}). {3}",
                    what, wanted, found, hint));
  }

  void OnMutated(const Status& status) {
    if (!status.ok()) return done_(status);
    ValidateByWebhooks(writer_.webhooks_, core_, intent_, Operation::kDelete, object_, nullptr,
                       [self = shared_from_this()](Status outcome) { self->Decide(outcome); });
  }

  void Decide(const Status& status) {
    if (!status.ok()) return done_(status);
    const ResourceInfo& info = *intent_.info;
    if (core_.store.Get(info.stored_as(), key_) != current_) {
      if (++attempts_ < kDeleteAttempts) return Attempt();
      return done_(Modified(info.resource, intent_.name));
    }
    const Json before = object_;
    if (intent_.prepare_delete) intent_.prepare_delete(object_);
    SetPropagation(object_, options_);
    if (info.resource == kube::kCustomResourceDefinitions) HoldDefinition(object_, core_.now());
    Grace grace = Grace::kOver;
    if (StrategyOf(info).graceful_deletion) grace = StartGrace(object_, options_, core_.now());
    if (grace == Grace::kOver) {
      if (!HasFinalizers(info, object_)) return Finish(true);
      MarkDeleted(object_, core_.now());
      if (IsNamespace(info)) kube::At(object_, {"status", "phase"}) = "Terminating";
    }
    if (kube::Equal(object_, before)) return done_(Written{current_});
    Finish(false);
  }

  void Finish(bool remove) { done_(writer_.Replace(intent_, *current_, object_, remove)); }

  Writer& writer_;
  Core& core_;
  const WriteIntent intent_;
  const std::string key_;
  const DeleteOptions options_;
  Done done_;
  int attempts_ = 0;
  EntryPtr current_;
  Json object_;
};

void Writer::Delete(WriteIntent intent, DeleteOptions options, Done done) {
  std::make_shared<Deletion>(*this, std::move(intent), std::move(options), std::move(done))
      ->Attempt();
}

}  // namespace koord::apiserver
