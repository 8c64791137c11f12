#include <utility>

#include "localcluster/apiserver/admission/webhooks.h"
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

constexpr int kNameAttempts = 8;

}  // namespace

// One object on its way to being created.
class Writer::Creation : public std::enable_shared_from_this<Creation> {
 public:
  Creation(Writer& writer, WriteIntent intent, Json object, Done done)
      : writer_(writer),
        core_(writer.core_),
        intent_(std::move(intent)),
        object_(std::move(object)),
        done_(std::move(done)) {}

  void Start() {
    const ResourceInfo& info = *intent_.info;
    Status status = AcceptNewMeta(info, intent_.ns, object_);
    if (status.ok()) status = CheckTerminating();
    if (!status.ok()) return done_(status);
    TrackOwnership(core_, intent_, nullptr, object_);
    status = writer_.builtin_.Create(info, intent_.ns, object_);
    if (!status.ok()) return done_(status);
    MutateByWebhooks(writer_.webhooks_, core_, intent_, Operation::kCreate, object_, nullptr,
                     [self = shared_from_this()](Status outcome) { self->OnMutated(outcome); });
  }

 private:
  // Objects of a kind that is going away would only be deleted again.
  Status CheckTerminating() const {
    const CustomState* custom = core_.FindCustom(*intent_.info);
    if (custom == nullptr || !custom->terminating) return absl::OkStatus();
    return Error(405, "MethodNotAllowed",
                 "create not allowed while custom resource definition is terminating");
  }

  void OnMutated(Status status) {
    const ResourceInfo& info = *intent_.info;
    if (status.ok()) status = AcceptMutatedMeta(info, intent_.ns, object_);
    if (!status.ok()) return done_(status);
    const bool generated = kube::FindString(object_, {"metadata", "name"}).empty();
    CompleteNewMeta(core_, info, object_);
    for (int attempt = 1; generated && Exists() && attempt < kNameAttempts; ++attempt) {
      object_.as_object()["metadata"].as_object().erase("name");
      CompleteNewMeta(core_, info, object_);
    }
    generated_ = generated;
    PrepareCreate(core_, info, object_);
    if (const FieldErrors errors = ValidateCreate(core_, info, object_); !errors.empty()) {
      return done_(
          kube::ToStatus(InvalidError(info.resource.kind, info.resource.group, Name(), errors)));
    }
    const Status bounded =
        writer_.builtin_.CheckLimits(info, intent_.ns, intent_.subresource, object_, nullptr);
    if (!bounded.ok()) return done_(bounded);
    ValidateByWebhooks(writer_.webhooks_, core_, intent_, Operation::kCreate, object_, nullptr,
                       [self = shared_from_this()](Status outcome) { self->Store(outcome); });
  }

  void Store(const Status& status) {
    if (!status.ok()) return done_(status);
    if (EntryPtr existing = Find()) return done_(Exists(*existing));
    const Status has_room = writer_.builtin_.CheckQuotas(*intent_.info, intent_.ns,
                                                         intent_.subresource, object_, nullptr);
    if (!has_room.ok()) return done_(has_room);
    const std::string key = KeyOf(intent_.ns, Name());
    if (intent_.dry_run) {
      auto entry = std::make_shared<Entry>(MakeEntry(*intent_.info, key, object_, 0));
      entry->value =
          ObjectText(intent_.info->stored_api_version(), intent_.info->resource.kind, object_, "");
      return done_(Written{std::move(entry), true});
    }
    done_(Written{core_.Put(*intent_.info, key, object_), true});
  }

  std::string_view Name() const { return kube::FindString(object_, {"metadata", "name"}); }
  EntryPtr Find() const {
    return core_.store.Get(intent_.info->stored_as(), KeyOf(intent_.ns, Name()));
  }
  bool Exists() const { return Find() != nullptr; }

  Status Exists(const Entry& existing) const {
    kube::ApiError error = ErrorOf(AlreadyExists(intent_.info->resource, Name()));
    if (generated_) {
      error.retry_after_seconds = 1;
      error.message += ", the server was not able to generate a unique name for the object";
    } else if (IsBeingDeleted(LoadObject(core_, *intent_.info, existing))) {
      error.message = "object is being deleted: " + error.message;
    }
    return kube::ToStatus(error);
  }

  Writer& writer_;
  Core& core_;
  const WriteIntent intent_;
  Json object_;
  Done done_;
  bool generated_ = false;
};

void Writer::Create(WriteIntent intent, Json object, Done done) {
  std::make_shared<Creation>(*this, std::move(intent), std::move(object), std::move(done))->Start();
}

}  // namespace koord::apiserver
