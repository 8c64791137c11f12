#pragma once
#include <absl/functional/any_invocable.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "kube/http.h"
#include "kube/json.h"
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/registry/resource_info.h"
#include "localcluster/apiserver/write/builtin_admission.h"

namespace koord::apiserver {

// Which object is written, by whom and how.
struct WriteIntent {
  ResourceInfoPtr info;
  std::string ns;
  std::string name;         // empty on create: the object says it
  std::string subresource;  // which part of the object the write is about
  kube::UserInfo user;
  std::string manager;   // owner of the fields that are written; empty: ownership is not tracked
  bool tracked = false;  // the object carries the right owners already
  bool dry_run = false;
  // Admission has seen what was asked for; webhooks are not asked about what follows from it.
  bool admitted = false;
  // A write that lost a race is tried again on the newer object.
  bool retries = true;
  // Changes a deleted object besides marking it.
  std::function<void(kube::Json&)> prepare_delete;
  RequestPtr request;  // gets the warnings; null for the server's own writes
};

struct DeleteOptions {
  std::optional<int64_t> grace_seconds;
  std::optional<bool> orphan_dependents;
  std::string propagation;  // Orphan, Background, Foreground or empty
  std::string uid;          // preconditions
  std::string resource_version;
};

// What a write has led to. The entry of a dry run is not in the store.
struct Written {
  EntryPtr entry;
  bool created = false;
  bool removed = false;  // entry is then the last state
};

// The one way in which objects change: decoded and defaulted objects go through admission and
// validation, and into the store if nobody else was faster. A write that would change nothing is
// answered with what is there.
class Writer {
 public:
  using Done = absl::AnyInvocable<void(StatusOr<Written>)>;
  // Makes the new object from the current one. Called again if the write has to be tried again.
  using Transform = std::function<StatusOr<kube::Json>(const kube::Json& current)>;

  Writer(Core& core, BuiltinAdmission& builtin, Webhooks& webhooks)
      : core_(core), builtin_(builtin), webhooks_(webhooks) {}

  // `object` has been normalised.
  void Create(WriteIntent intent, kube::Json object, Done done);
  void Update(WriteIntent intent, Transform transform, Done done);
  void Delete(WriteIntent intent, DeleteOptions options, Done done);
  // Shows `object` to admission without storing it: what is sent to a subresource.
  void Admit(WriteIntent intent, Operation operation, kube::Json object,
             absl::AnyInvocable<void(StatusOr<kube::Json>)> done);

 private:
  class Creation;
  class Change;
  class Deletion;

  // Puts `object` in the place of `current`, or takes it away for good with `object` as its last
  // state; a dry run only says what would be there.
  Written Replace(const WriteIntent& intent, const Entry& current, const kube::Json& object,
                  bool remove);

  Core& core_;
  BuiltinAdmission& builtin_;
  Webhooks& webhooks_;
};

}  // namespace koord::apiserver
