#include "localcluster/apiserver/write/ownership.h"

#include "localcluster/apiserver/apply/managed_fields.h"

namespace koord::apiserver {

const FieldSchema& FieldSchemaOf(const Core& core, const ResourceInfo& info) {
  if (!info.custom) return FieldSchema::Of(info.type);
  const CustomState* custom = core.FindCustom(info);
  if (custom == nullptr) return FieldSchema::Untyped();
  const auto it = custom->field_schemas.find(info.resource.version);
  return it == custom->field_schemas.end() ? FieldSchema::Untyped() : it->second->root();
}

void TrackOwnership(const Core& core, const WriteIntent& intent, const kube::Json* live,
                    kube::Json& object) {
  if (intent.manager.empty() || intent.tracked) return;
  FieldWriter writer;
  const std::string api_version = intent.info->resource.api_version();
  writer.manager = intent.manager;
  writer.api_version = api_version;
  writer.subresource = intent.subresource;
  writer.time = core.now();
  TrackUpdate(live, object, writer, FieldSchemaOf(core, *intent.info));
}

}  // namespace koord::apiserver
