#pragma once
#include "kube/json.h"
#include "localcluster/apiserver/apply/field_schema.h"
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/write/writer.h"

// metadata.managedFields of the objects that requests write.
namespace koord::apiserver {

// Notes that the writer now owns the fields that it has set or changed. `live` is null on create.
void TrackOwnership(const Core& core, const WriteIntent& intent, const kube::Json* live,
                    kube::Json& object);

// How objects of this resource divide into fields.
const FieldSchema& FieldSchemaOf(const Core& core, const ResourceInfo& info);

}  // namespace koord::apiserver
