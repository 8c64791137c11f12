#pragma once
#include <string_view>

#include "base/clock.h"
#include "base/status.h"
#include "kube/json.h"
#include "localcluster/apiserver/apply/field_schema.h"
#include "localcluster/apiserver/apply/field_set.h"

// metadata.managedFields: who owns which field of an object, and server-side apply, which rests on
// it. Both run on the object as the client meant it: after defaulting, before admission.
namespace koord::apiserver {

// Who writes.
struct FieldWriter {
  std::string_view manager;  // the fieldManager parameter, or the user agent up to the first '/'
  std::string_view api_version;  // in which the object is written
  std::string_view subresource;  // empty for the main endpoint
  WallTime time;
};

// Notes a create (live is null), update or non-apply patch: fields that it changed belong to the
// writer and to nobody else, fields that it removed to nobody.
//
// Reads managedFields of `live`, or of `updated` where the client rewrote them ([] and [{}] forget
// all), and writes those of `updated`. Objects whose owners were forgotten stay untracked until
// somebody applies.
void TrackUpdate(const kube::Json* live, kube::Json& updated, const FieldWriter& writer,
                 const FieldSchema& schema);

struct ApplyOptions {
  FieldWriter writer;
  bool force = false;
  // Fields that this endpoint does not let the client write (status on the main one, ...): they are
  // neither applied nor owned.
  const FieldSet* reset = nullptr;
};

// Server-side apply of `applied` to `live` (null: creates). Returns the whole object with its
// managedFields; defaulting and the usual pipeline come after. Errors carry an ApiError: 409 with
// one cause a conflicting field, 400 for a body that cannot be applied.
StatusOr<kube::Json> Apply(const kube::Json* live, const kube::Json& applied,
                           const ApplyOptions& options, const FieldSchema& schema);

// fieldManager as a request gives it: at most 128 printable characters; required for apply.
Status CheckFieldManager(std::string_view manager, bool apply);

// The manager of a request that names none.
std::string_view ManagerFromUserAgent(std::string_view user_agent);

// True if a write would change nothing but the times in managedFields: it must not be stored.
// resourceVersion is not looked at.
bool UnchangedButForTimes(const kube::Json& live, const kube::Json& updated);

}  // namespace koord::apiserver
