#pragma once
#include <absl/functional/any_invocable.h>

#include "localcluster/apiserver/admission/webhooks.h"
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/write/writer.h"

namespace koord::apiserver {

using Decided = absl::AnyInvocable<void(Status)>;

// Whether some webhook may change what is written.
bool MayBeMutated(const Webhooks& webhooks, const WriteIntent& intent, Operation operation);

// Lets webhooks and in-process hooks change `object`, which must live until `done` has run. For a
// deletion `object` is what is to be deleted, and cannot be changed.
void MutateByWebhooks(Webhooks& webhooks, const Core& core, const WriteIntent& intent,
                      Operation operation, kube::Json& object, const kube::Json* old, Decided done);

// Lets them refuse the write.
void ValidateByWebhooks(Webhooks& webhooks, const Core& core, const WriteIntent& intent,
                        Operation operation, const kube::Json& object, const kube::Json* old,
                        Decided done);

}  // namespace koord::apiserver
