#pragma once
#include <string>
#include <vector>

#include "kube/json.h"
#include "kube/schema/reported_fields.h"
#include "localcluster/apiserver/registry/field_error.h"
#include "localcluster/apiserver/registry/field_path.h"

// metadata of custom resources and of objects embedded in them: always ObjectMeta, whatever the
// schema says.
namespace koord::apiserver {

void PruneMetadata(kube::Json& metadata, const FieldPath& path, kube::ReportedFields& removed);
// Members of the wrong type.
void CheckMetadataTypes(const kube::Json& metadata, const FieldPath& path, FieldErrors& errors);

}  // namespace koord::apiserver
