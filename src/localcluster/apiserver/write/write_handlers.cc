#include "localcluster/apiserver/write/write_handlers.h"

#include <utility>

#include "localcluster/apiserver/apply/managed_fields.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/http/body.h"
#include "localcluster/apiserver/http/respond.h"
#include "localcluster/apiserver/registry/registry.h"

namespace koord::apiserver {

using kube::Json;

WriteIntent IntentOf(const RequestPtr& request, const WriteOptions& options) {
  WriteIntent intent;
  intent.info = request->info;
  intent.ns = request->ns;
  intent.name = request->name;
  intent.subresource = request->subresource;
  intent.user = request->user();
  intent.manager = options.manager;
  if (intent.manager.empty()) {
    intent.manager = ManagerFromUserAgent(request->http.headers.Get("User-Agent"));
  }
  intent.dry_run = options.dry_run;
  intent.request = request;
  return intent;
}

StatusOr<Json> WriteHandlers::ReadObject(Request& request, const WriteOptions& options) {
  ASSIGN_OR_RETURN(Body body, DecodeBody(request, request.info->type != nullptr));
  RETURN_IF_ERROR(CheckKindOfBody(request, body.object));
  kube::ReportedFields unknown;
  RETURN_IF_ERROR(Normalize(core_, *request.info, body.object, unknown));
  RETURN_IF_ERROR(ReportFields(options.validation, request.info->resource, unknown, body.duplicates,
                               request.warnings));
  return std::move(body.object);
}

void WriteHandlers::Create(RequestPtr request) {
  const StatusOr<WriteOptions> options = WriteOptions::Of(*request, "CreateOptions");
  if (!options.ok()) return RespondError(core_, *request, options.status());
  StatusOr<Json> object = ReadObject(*request, *options);
  if (!object.ok()) return RespondError(core_, *request, object.status());
  CreateDecoded(std::move(request), *options, std::move(*object));
}

void WriteHandlers::CreateDecoded(RequestPtr request, const WriteOptions& options, Json object) {
  WriteIntent intent = IntentOf(request, options);
  intent.name.clear();
  writer_.Create(std::move(intent), std::move(object), [this, request](StatusOr<Written> written) {
    if (!written.ok()) return RespondError(core_, *request, written.status());
    RespondEntry(core_, request, 201, std::move(written->entry));
  });
}

void WriteHandlers::Update(RequestPtr request) {
  const StatusOr<WriteOptions> options = WriteOptions::Of(*request, "UpdateOptions");
  if (!options.ok()) return RespondError(core_, *request, options.status());
  StatusOr<Json> object = ReadObject(*request, *options);
  if (!object.ok()) return RespondError(core_, *request, object.status());

  const bool exists =
      core_.store.Get(request->info->stored_as(), KeyOf(request->ns, request->name)) != nullptr;
  if (!exists && StrategyOf(*request->info).create_on_update && request->subresource.empty()) {
    kube::At(*object, {"metadata", "name"}) = request->name;
    object->as_object()["metadata"].as_object().erase("resourceVersion");
    return CreateDecoded(std::move(request), *options, std::move(*object));
  }
  WriteIntent intent = IntentOf(request, *options);
  // With a version of its own in the body a lost race is the client's to deal with.
  intent.retries = kube::FindString(*object, {"metadata", "resourceVersion"}).empty();
  writer_.Update(
      std::move(intent), [object = std::move(*object)](const Json&) { return object; },
      [this, request](StatusOr<Written> written) {
        if (!written.ok()) return RespondError(core_, *request, written.status());
        RespondEntry(core_, request, 200, std::move(written->entry));
      });
}

}  // namespace koord::apiserver
