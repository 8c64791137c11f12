#pragma once
#include <string_view>

#include "base/status.h"
#include "kube/json.h"
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/registry/resource_info.h"
#include "localcluster/apiserver/registry/strategy.h"

// The rules of metadata that hold for every kind.
namespace koord::apiserver {

// A new object as the client sent it: its namespace must be that of the URL, and what only the
// server may set is dropped.
Status AcceptNewMeta(const ResourceInfo& info, std::string_view ns, kube::Json& object);
// The same after admission, which may change much, but not where the object is.
Status AcceptMutatedMeta(const ResourceInfo& info, std::string_view ns, kube::Json& object);
// Name (generated if asked for), uid, creation time and generation of an object about to be stored.
void CompleteNewMeta(Core& core, const ResourceInfo& info, kube::Json& object);

// A changed object as the client sent it: it must be the one in the URL, and the one that is
// stored.
Status AcceptUpdatedMeta(const ResourceInfo& info, std::string_view ns, std::string_view name,
                         kube::Json& object, const kube::Json& old);
// What only the server may set stays as it was.
void CarryOverMeta(kube::Json& object, const kube::Json& old);
// Moves generation if the change is one that counts for this kind.
void BumpGeneration(const ResourceInfo& info, kube::Json& object, const kube::Json& old);

bool IsBeingDeleted(const kube::Json& object);
// Somebody has yet to do something before the object may go.
bool HasFinalizers(const ResourceInfo& info, const kube::Json& object);

}  // namespace koord::apiserver
