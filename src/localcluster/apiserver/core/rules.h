#pragma once
#include <string_view>

#include "kube/json.h"
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/registry/field_error.h"
#include "localcluster/apiserver/registry/resource_info.h"

// Defaults, carried-over state and validation of an object of any resource, built in or custom.
namespace koord::apiserver {

// Built-in resources only; custom ones are defaulted by their schema.
void SetBuiltinDefaults(const ResourceInfo& info, kube::Json& object);

// What the server decides about a new object: its status above all.
void PrepareCreate(const Core& core, const ResourceInfo& info, kube::Json& object);
// What a write through this endpoint may not change stays as it was: status on the main one, all
// but status on /status, and so on.
void PrepareUpdate(const Core& core, const ResourceInfo& info, std::string_view subresource,
                   kube::Json& object, const kube::Json& old);

FieldErrors ValidateCreate(const Core& core, const ResourceInfo& info, const kube::Json& object);
FieldErrors ValidateUpdate(const Core& core, const ResourceInfo& info, std::string_view subresource,
                           const kube::Json& object, const kube::Json& old);

}  // namespace koord::apiserver
