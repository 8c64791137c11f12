#include <utility>

#include "localcluster/apiserver/apply/managed_fields.h"
#include "localcluster/apiserver/errors.h"
#include "localcluster/apiserver/object_meta.h"
#include "localcluster/apiserver/object_text.h"
#include "localcluster/apiserver/ownership.h"
#include "localcluster/apiserver/rules.h"
#include "localcluster/apiserver/versions.h"
#include "localcluster/apiserver/writer.h"
#include "localcluster/apiserver/writer_admission.h"

namespace koord::apiserver {

using kube::Json;

namespace {

constexpr int kUpdateAttempts = 5;

// Writes that the server makes on a user's behalf, such as a binding, are no change of intent.
bool MayChangeGeneration(std::string_view subresource) {
  return subresource.empty() || subresource == "scale" || subresource == "resize" ||
         subresource == "ephemeralcontainers";
}

}  // namespace

// One object on its way to being changed.
class Writer::Change : public std::enable_shared_from_this<Change> {
 public:
  Change(Writer& writer, WriteIntent intent, Transform transform, Done done)
      : writer_(writer),
        core_(writer.core_),
        intent_(std::move(intent)),
        key_(KeyOf(intent_.ns, intent_.name)),
        transform_(std::move(transform)),
        done_(std::move(done)) {}

  void Attempt() {
    const ResourceInfo& info = *intent_.info;
    current_ = core_.store.Get(info.stored_as(), key_);
    if (current_ == nullptr) return done_(ObjectNotFound(info.resource, intent_.name));
    old_ = LoadObject(core_, info, *current_);
    StatusOr<Json> changed = transform_(old_);
    if (!changed.ok()) return done_(changed.status());
    object_ = std::move(*changed);
    Status status = AcceptUpdatedMeta(info, intent_.ns, intent_.name, object_, old_);
    if (!status.ok()) return done_(status);
    PrepareUpdate(core_, info, intent_.subresource, object_, old_);
    if (intent_.subresource.empty()) status = writer_.builtin_.Update(info, object_);
    if (!status.ok()) return done_(status);
    TrackOwnership(core_, intent_, &old_, object_);
    MutateByWebhooks(writer_.webhooks_, core_, intent_, Operation::kUpdate, object_, &old_,
                     [self = shared_from_this()](Status outcome) { self->OnMutated(outcome); });
  }

 private:
  void OnMutated(const Status& status) {
    if (!status.ok()) return done_(status);
    const ResourceInfo& info = *intent_.info;
    PrepareUpdate(core_, info, intent_.subresource, object_, old_);
    if (MayChangeGeneration(intent_.subresource)) BumpGeneration(info, object_, old_);
    const FieldErrors errors = ValidateUpdate(core_, info, intent_.subresource, object_, old_);
    if (!errors.empty()) {
      return done_(kube::ToStatus(
          InvalidError(info.resource.kind, info.resource.group, intent_.name, errors)));
    }
    ValidateByWebhooks(writer_.webhooks_, core_, intent_, Operation::kUpdate, object_, &old_,
                       [self = shared_from_this()](Status outcome) { self->Store(outcome); });
  }

  void Store(const Status& status) {
    if (!status.ok()) return done_(status);
    const ResourceInfo& info = *intent_.info;
    if (core_.store.Get(info.stored_as(), key_) != current_) {
      if (intent_.retries && ++attempts_ < kUpdateAttempts) return Attempt();
      return done_(Modified(info.resource, intent_.name));
    }
    if (UnchangedButForTimes(old_, object_)) return done_(Written{current_});
    done_(writer_.Replace(intent_, *current_, object_, FinishesDeletion()));
  }

  // The last finalizer of an object that is waiting to go has just been removed.
  bool FinishesDeletion() const {
    return IsBeingDeleted(old_) && !HasFinalizers(*intent_.info, object_) &&
           kube::FindInt(object_, {"metadata", "deletionGracePeriodSeconds"}) <= 0;
  }

  Writer& writer_;
  Core& core_;
  const WriteIntent intent_;
  const std::string key_;
  const Transform transform_;
  Done done_;
  int attempts_ = 0;
  EntryPtr current_;
  Json old_;
  Json object_;
};

void Writer::Update(WriteIntent intent, Transform transform, Done done) {
  std::make_shared<Change>(*this, std::move(intent), std::move(transform), std::move(done))
      ->Attempt();
}

}  // namespace koord::apiserver
