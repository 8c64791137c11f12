#include "localcluster/apiserver/write/scale.h"

#include <utility>

#include "kube/patch/json_patch.h"
#include "kube/patch/merge_patch.h"
#include "kube/selectors.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/versions.h"
#include "localcluster/apiserver/http/body.h"
#include "localcluster/apiserver/http/respond.h"
#include "localcluster/apiserver/registry/field_error.h"
#include "localcluster/apiserver/write/write_handlers.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

const kube::Resource kScale{"autoscaling", "v1", "", "Scale"};

int64_t IntegerAt(const JsonPath& path, const Json& object) {
  const Json* found = path.First(object);
  return found == nullptr ? 0 : kube::FindInt(*found, {});
}

// A selector as one text: built-in ones are objects, those of replication controllers plain labels.
std::string SelectorText(const ResourceInfo& info, const Json& object) {
  const Json* selector = kube::Find(object, {"spec", "selector"});
  if (selector == nullptr) return "";
  const bool plain = info.resource.kind == "ReplicationController";
  const auto matcher = kube::LabelMatcher::FromJson(
      plain ? Json(json::object{{"matchLabels", *selector}}) : *selector);
  return matcher.ok() ? matcher->ToString() : "";
}

Status InvalidReplicas(std::string_view name, const Json& value) {
  return kube::ToStatus(
      InvalidError("Scale", "autoscaling", name,
                   {Invalid("spec.replicas", value, "must be greater than or equal to 0")}));
}

}  // namespace

Json ScaleHandlers::ScaleOf(const ResourceInfo& info, const Json& object) const {
  json::object metadata;
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const Json* value = kube::Find(object, {"metadata", field})) metadata[field] = *value;
  }
  json::object spec;
  json::object status;
  const CustomVersion* custom = core_.FindCustomVersion(info);
  if (custom != nullptr && custom->scale) {
    spec["replicas"] = IntegerAt(custom->scale->spec_replicas, object);
    status["replicas"] = IntegerAt(custom->scale->status_replicas, object);
    const auto& path = custom->scale->label_selector;
    const Json* selector = path ? path->First(object) : nullptr;
    if (selector != nullptr && selector->is_string()) status["selector"] = *selector;
  } else {
    spec["replicas"] = kube::FindInt(object, {"spec", "replicas"});
    status["replicas"] = kube::FindInt(object, {"status", "replicas"});
    if (const std::string selector = SelectorText(info, object); !selector.empty()) {
      status["selector"] = selector;
    }
  }
  return json::object{{"kind", kScale.kind},
                      {"apiVersion", kScale.api_version()},
                      {"metadata", std::move(metadata)},
                      {"spec", std::move(spec)},
                      {"status", std::move(status)}};
}

StatusOr<Json> ScaleHandlers::WithScale(const ResourceInfo& info, const Json& object,
                                        const Json& scale) const {
  const std::string_view name = kube::FindString(object, {"metadata", "name"});
  const Json* replicas = kube::Find(scale, {"spec", "replicas"});
  const Json zero = 0;
  if (replicas == nullptr || replicas->is_null()) replicas = &zero;
  if (!replicas->is_int64() || replicas->get_int64() < 0) return InvalidReplicas(name, *replicas);
  const std::string_view given = kube::FindString(scale, {"metadata", "name"}, name);
  if (given != name) {
    return BadRequest("the name of the object ({}) does not match the name on the URL ({})", given,
                      name);
  }
  const std::string_view version = kube::FindString(scale, {"metadata", "resourceVersion"});
  Json changed = object;
  // An empty version writes over whatever is there.
  if (!version.empty()) kube::At(changed, {"metadata", "resourceVersion"}) = version;
  const CustomVersion* custom = core_.FindCustomVersion(info);
  if (custom != nullptr && custom->scale) {
    custom->scale->spec_replicas.Make(changed) = *replicas;
  } else {
    kube::At(changed, {"spec", "replicas"}) = *replicas;
  }
  return changed;
}

void ScaleHandlers::Handle(RequestPtr request) {
  if (request->verb == "get") return Get(std::move(request));
  if (request->verb == "update") return Update(std::move(request));
  Patch(std::move(request));
}

void ScaleHandlers::Get(RequestPtr request) {
  EntryPtr entry = core_.store.Get(request->info->stored_as(), KeyOf(request->ns, request->name));
  if (entry == nullptr) {
    return RespondError(core_, *request, ObjectNotFound(request->info->resource, request->name));
  }
  RespondScale(std::move(request), std::move(entry));
}

void ScaleHandlers::RespondScale(RequestPtr request, EntryPtr entry) {
  const Revision revision = entry->revision;
  core_.WhenDurable(revision, [this, request, entry = std::move(entry)] {
    const Json object = LoadObject(core_, *request->info, *entry);
    const Json scale = ScaleOf(*request->info, object);
    if (request->output.kind != Output::Kind::kTable) {
      return Respond(core_, *request, 200, kube::Serialize(scale));
    }
    ResourceInfo info;
    info.resource = kScale;
    TableOptions options = TableOptionsFor(core_, *request);
    options.metadata = json::object{{"resourceVersion", std::to_string(entry->revision)}};
    const Json* const objects[] = {&scale};
    Respond(core_, *request, 200, kube::Serialize(MakeTable(info, objects, options)));
  });
}

void ScaleHandlers::Update(RequestPtr request) {
  StatusOr<Body> body = DecodeBody(*request, true);
  if (!body.ok()) return RespondError(core_, *request, body.status());
  if (const Status status = CheckKind(kScale, body->object); !status.ok()) {
    return RespondError(core_, *request, status);
  }
  Write(std::move(request), "UpdateOptions",
        [scale = std::move(body->object)](const Json&) { return scale; });
}

void ScaleHandlers::Patch(RequestPtr request) {
  const std::string type = BodyType(*request);
  StatusOr<Json> patch = kube::ParseJson(request->http.body);
  if (!patch.ok()) {
    return RespondError(core_, *request,
                        BadRequest("error decoding patch: {}", Message(patch.status())));
  }
  const bool json_patch = type == "application/json-patch+json";
  if (!json_patch && type != "application/merge-patch+json" &&
      type != "application/strategic-merge-patch+json") {
    return RespondError(core_, *request,
                        UnsupportedMediaType("application/json-patch+json, "
                                             "application/merge-patch+json"));
  }
  Write(std::move(request), "PatchOptions",
        [json_patch, patch = std::move(*patch)](const Json& scale) {
          return json_patch ? kube::ApplyJsonPatch(scale, patch)
                            : kube::ApplyMergePatch(scale, patch);
        });
}

void ScaleHandlers::Write(RequestPtr request, std::string_view options_kind,
                          std::function<StatusOr<Json>(const Json&)> change) {
  const StatusOr<WriteOptions> options = WriteOptions::Of(*request, options_kind);
  if (!options.ok()) return RespondError(core_, *request, options.status());
  writer_.Update(
      IntentOf(request, *options),
      [this, info = request->info,
       change = std::move(change)](const Json& current) -> StatusOr<Json> {
        ASSIGN_OR_RETURN(const Json scale, change(ScaleOf(*info, current)));
        return WithScale(*info, current, scale);
      },
      [this, request](StatusOr<Written> written) {
        if (!written.ok()) return RespondError(core_, *request, written.status());
        RespondScale(request, std::move(written->entry));
      });
}

}  // namespace koord::apiserver
