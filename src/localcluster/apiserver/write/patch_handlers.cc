#include <utility>

#include "base/strings.h"
#include "kube/patch/json_patch.h"
#include "kube/patch/merge_patch.h"
#include "kube/patch/strategic_merge_patch.h"
#include "kube/schema/strict.h"
#include "kube/yaml.h"
#include "localcluster/apiserver/apply/managed_fields.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/http/body.h"
#include "localcluster/apiserver/http/respond.h"
#include "localcluster/apiserver/write/ownership.h"
#include "localcluster/apiserver/write/write_handlers.h"

namespace koord::apiserver {

using kube::Json;

namespace {

constexpr char kPatchOptions[] = "PatchOptions";
constexpr std::string_view kApply = "application/apply-patch+yaml";
constexpr std::string_view kForAll =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
constexpr std::string_view kForBuiltins =
    "application/json-patch+json, application/merge-patch+json, "
    "application/strategic-merge-patch+json, application/apply-patch+yaml";

enum class PatchKind { kJson, kMerge, kStrategic };

StatusOr<PatchKind> KindOf(const Request& request) {
  const std::string type = BodyType(request);
  const bool builtin = !request.info->custom;
  if (type == "application/json-patch+json") return PatchKind::kJson;
  if (type == "application/merge-patch+json") return PatchKind::kMerge;
  if (type == "application/strategic-merge-patch+json" && builtin) return PatchKind::kStrategic;
  return UnsupportedMediaType(builtin ? kForBuiltins : kForAll);
}

StatusOr<Json> ApplyPatch(PatchKind kind, const ResourceInfo& info, const Json& current,
                          const Json& patch) {
  // May copy parts of the document again and again, and must give back what it drops.
  if (kind == PatchKind::kJson) return kube::ApplyJsonPatch(current, patch);
  Json object(current, current.storage());  // beside it: both are gone when this is written
  // Kinds without a schema have no lists that merge.
  if (kind == PatchKind::kMerge || info.type == nullptr) {
    return kube::ApplyMergePatch(std::move(object), patch);
  }
  return kube::ApplyStrategicMergePatch(std::move(object), patch, *info.type);
}

// What a write through this endpoint may not set, and hence not own.
const FieldSet* ResetFields(const Request& request) {
  static const FieldSet kStatus = FieldSet::Of({{"status"}});
  static const FieldSet kSpec = FieldSet::Of({{"spec"}});
  static const FieldSet kAllButStatus = FieldSet::Of({{"metadata"}, {"spec"}});
  if (request.subresource == "status") return request.info->custom ? &kAllButStatus : &kSpec;
  return request.info->has_status() ? &kStatus : nullptr;
}

// An applied configuration in the form in which objects are stored, but without defaults.
Status ConformApplied(const Core& core, const ResourceInfo& info, Json& applied,
                      kube::ReportedFields& unknown) {
  if (info.custom) {
    const CustomVersion* version = core.FindCustomVersion(info);
    if (version == nullptr) return UnknownEndpoint();
    unknown = version->schema->Prune(applied);
    return absl::OkStatus();
  }
  if (info.type == nullptr) return absl::OkStatus();
  const Status status = kube::Conform(*info.type, applied, unknown, {.omit_empty = false});
  if (status.ok()) return status;
  return BadRequest("failed to create typed patch object: {}", Message(status));
}

}  // namespace

void WriteHandlers::Patch(RequestPtr request) {
  StatusOr<WriteOptions> options = WriteOptions::Of(*request, kPatchOptions);
  if (!options.ok()) return RespondError(core_, *request, options.status());
  if (BodyType(*request) == kApply) return Apply(std::move(request), std::move(*options));

  const StatusOr<PatchKind> kind = KindOf(*request);
  if (!kind.ok()) return RespondError(core_, *request, kind.status());
  if (request->query.Has("force")) {
    return RespondError(core_, *request,
                        kube::ToStatus(InvalidError(
                            kPatchOptions, "meta.k8s.io", "",
                            {Forbidden("force", "may not be specified for non-apply patch")})));
  }
  StatusOr<Json> patch = kube::ParseJson(request->http.body);
  if (!patch.ok()) {
    return RespondError(core_, *request,
                        BadRequest("error decoding patch: {}", Message(patch.status())));
  }
  WriteIntent intent = IntentOf(request, *options);
  Request& client = *request;
  writer_.Update(
      std::move(intent),
      [this, &client, kind = *kind, patch = std::move(*patch),
       validation = options->validation](const Json& current) -> StatusOr<Json> {
        ASSIGN_OR_RETURN(Json object, ApplyPatch(kind, *client.info, current, patch));
        RETURN_IF_ERROR(NormalizePatched(client, validation, object));
        return object;
      },
      [this, request](StatusOr<Written> written) {
        if (!written.ok()) return RespondError(core_, *request, written.status());
        RespondEntry(core_, request, 200, std::move(written->entry));
      });
}

Status WriteHandlers::NormalizePatched(Request& request, FieldValidation validation, Json& object) {
  if (!object.is_object()) return BadRequest("the patched object is not an object");
  RETURN_IF_ERROR(CheckKind(request.info->resource, object));
  kube::ReportedFields unknown;
  RETURN_IF_ERROR(Normalize(core_, *request.info, object, unknown));
  return ReportFields(validation, request.info->resource, unknown,
                      kube::FindDuplicateFields(request.http.body), request.warnings);
}

void WriteHandlers::Apply(RequestPtr request, WriteOptions options) {
  if (const FieldErrors errors = ValidateFieldManager(options.manager, true); !errors.empty()) {
    return RespondError(core_, *request,
                        kube::ToStatus(InvalidError(kPatchOptions, "meta.k8s.io", "", errors)));
  }
  StatusOr<Json> applied = ReadApplied(*request, options);
  if (!applied.ok()) return RespondError(core_, *request, applied.status());
  ApplyRead(std::move(request), options, std::make_shared<const Json>(std::move(*applied)));
}

StatusOr<Json> WriteHandlers::ReadApplied(Request& request, const WriteOptions& options) {
  auto parsed = kube::ParseYaml(request.http.body);
  if (!parsed.ok()) return BadRequest("error decoding YAML: {}", Message(parsed.status()));
  Json applied = std::move(*parsed);
  if (!applied.is_object()) return BadRequest("error decoding YAML: the body must be an object");
  RETURN_IF_ERROR(CheckKindOfApplied(request.info->resource, applied));
  kube::ReportedFields unknown;
  RETURN_IF_ERROR(ConformApplied(core_, *request.info, applied, unknown));
  RETURN_IF_ERROR(
      ReportFields(options.validation, request.info->resource, unknown, {}, request.warnings));
  const std::string_view name = kube::FindString(applied, {"metadata", "name"});
  if (!name.empty() && name != request.name) {
    return BadRequest("the name of the object ({}) does not match the name on the URL ({})", name,
                      request.name);
  }
  kube::At(applied, {"metadata", "name"}) = request.name;
  return applied;
}

void WriteHandlers::ApplyRead(RequestPtr request, const WriteOptions& options,
                              std::shared_ptr<const Json> applied) {
  Request& client = *request;
  const auto make = [this, &client, options, applied](const Json* live) -> StatusOr<Json> {
    const std::string api_version = client.info->resource.api_version();
    ApplyOptions apply;
    apply.writer = {options.manager, api_version, client.subresource, core_.now()};
    apply.force = options.force;
    apply.reset = ResetFields(client);
    ASSIGN_OR_RETURN(Json object, koord::apiserver::Apply(live, *applied, apply,
                                                          FieldSchemaOf(core_, *client.info)));
    kube::ReportedFields unknown;
    RETURN_IF_ERROR(Normalize(core_, *client.info, object, unknown));
    return object;
  };
  WriteIntent intent = IntentOf(request, options);
  intent.tracked = true;
  const bool exists =
      core_.store.Get(client.info->stored_as(), KeyOf(client.ns, client.name)) != nullptr;
  if (!exists && client.subresource.empty()) {
    StatusOr<Json> object = make(nullptr);
    if (!object.ok()) return RespondError(core_, client, object.status());
    writer_.Create(std::move(intent), std::move(*object),
                   [this, request](StatusOr<Written> written) {
                     if (!written.ok()) return RespondError(core_, *request, written.status());
                     RespondEntry(core_, request, 201, std::move(written->entry));
                   });
    return;
  }
  writer_.Update(
      std::move(intent), [make](const Json& current) { return make(&current); },
      [this, request](StatusOr<Written> written) {
        if (!written.ok()) return RespondError(core_, *request, written.status());
        RespondEntry(core_, request, 200, std::move(written->entry));
      });
}

}  // namespace koord::apiserver
