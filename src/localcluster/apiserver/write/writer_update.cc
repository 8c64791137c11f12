#include <memory>
#include <utility>

#include "localcluster/apiserver/apply/managed_fields.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/object_meta.h"
#include "localcluster/apiserver/core/object_text.h"
#include "localcluster/apiserver/core/rules.h"
#include "localcluster/apiserver/core/versions.h"
#include "localcluster/apiserver/write/ownership.h"
#include "localcluster/apiserver/write/writer.h"
#include "localcluster/apiserver/write/writer_admission.h"

namespace koord::apiserver {

using kube::Json;

namespace {

constexpr int kUpdateAttempts = 5;

// Writes that the server makes on a user's behalf, such as a binding, are no change of intent.
bool MayChangeGeneration(std::string_view subresource) {
  return subresource.empty() || subresource == "scale" || subresource == "resize" ||
         subresource == "ephemeralcontainers";
}

// Takes a document over in the memory that it was made in; an assignment would copy it.
void Adopt(Json& place, Json&& document) {
  std::destroy_at(&place);
  std::construct_at(&place, std::move(document));
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
    Adopt(old_, LoadObject(core_, info, *current_));
    StatusOr<Json> changed = transform_(old_);
    if (!changed.ok()) return done_(changed.status());
    Adopt(object_, *std::move(changed));
    Status status = AcceptUpdatedMeta(info, intent_.ns, intent_.name, object_, old_);
    if (!status.ok()) return done_(status);
    PrepareUpdate(core_, info, intent_.subresource, object_, old_);
    if (intent_.subresource.empty()) status = writer_.builtin_.Update(info, object_);
    if (!status.ok()) return done_(status);
    TrackOwnership(core_, intent_, &old_, object_);
    is_prepared_ = !intent_.subresource.empty() &&
                   !MayBeMutated(writer_.webhooks_, intent_, Operation::kUpdate);
    MutateByWebhooks(writer_.webhooks_, core_, intent_, Operation::kUpdate, object_, &old_,
                     [self = shared_from_this()](Status outcome) { self->OnMutated(outcome); });
  }

 private:
  void OnMutated(Status status) {
    const ResourceInfo& info = *intent_.info;
    if (status.ok()) status = AcceptMutatedMeta(info, intent_.ns, object_);
    if (!status.ok()) return done_(status);
    if (!is_prepared_) PrepareUpdate(core_, info, intent_.subresource, object_, old_);
    if (MayChangeGeneration(intent_.subresource)) BumpGeneration(info, object_, old_);
    const FieldErrors errors = ValidateUpdate(core_, info, intent_.subresource, object_, old_);
    if (!errors.empty()) {
      return done_(kube::ToStatus(
          InvalidError(info.resource.kind, info.resource.group, intent_.name, errors)));
    }
    const Status bounded =
        writer_.builtin_.CheckLimits(info, intent_.ns, intent_.subresource, object_, &old_);
    if (!bounded.ok()) return done_(bounded);
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
    const Status has_room =
        writer_.builtin_.CheckQuotas(info, intent_.ns, intent_.subresource, object_, &old_);
    if (!has_room.ok()) return done_(has_room);
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
  bool is_prepared_ = false;  // nobody may have changed the object since
  EntryPtr current_;
  Json old_;
  Json object_;
};

void Writer::Update(WriteIntent intent, Transform transform, Done done) {
  std::make_shared<Change>(*this, std::move(intent), std::move(transform), std::move(done))
      ->Attempt();
}

}  // namespace koord::apiserver
