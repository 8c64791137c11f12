#include <utility>

#include "kube/schema/strict.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/http/body.h"
#include "localcluster/apiserver/http/respond.h"
#include "localcluster/apiserver/read/read.h"
#include "localcluster/apiserver/registry/field_error.h"
#include "localcluster/apiserver/registry/registry.h"
#include "localcluster/apiserver/write/write_handlers.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

// A deletecollection at work: one object after the other.
struct CollectionDeletion {
  DeleteOptions options;
  bool dry_run = false;
  std::vector<EntryPtr> entries;
  size_t next = 0;
  ListPage deleted;
};

namespace {

constexpr char kDeleteOptions[] = "DeleteOptions";

Status InvalidOptions(FieldError error) {
  return kube::ToStatus(InvalidError(kDeleteOptions, "meta.k8s.io", "", {std::move(error)}));
}

Status CheckOptions(const DeleteOptions& options) {
  if (options.orphan_dependents && !options.propagation.empty()) {
    return InvalidOptions(Invalid("propagationPolicy", Json(options.propagation),
                                  "orphanDependents and deletionPropagation cannot be both set"));
  }
  const bool known = options.propagation.empty() || options.propagation == "Orphan" ||
                     options.propagation == "Background" || options.propagation == "Foreground";
  if (known) return absl::OkStatus();
  return InvalidOptions(NotSupported("propagationPolicy", Json(options.propagation),
                                     {"Foreground", "Background", "Orphan"}));
}

StatusOr<DeleteOptions> OptionsFromQuery(const Request& request, bool& dry_run) {
  DeleteOptions options;
  ASSIGN_OR_RETURN(options.grace_seconds, request.query.Integer("gracePeriodSeconds"));
  if (request.query.Has("orphanDependents")) {
    options.orphan_dependents = request.query.IsTrue("orphanDependents");
  }
  options.propagation = request.query.Get("propagationPolicy");
  ASSIGN_OR_RETURN(dry_run, ParseDryRun(kDeleteOptions, request.query.All("dryRun")));
  RETURN_IF_ERROR(CheckOptions(options));
  return options;
}

Json DeletedStatus(const ResourceInfo& info, const Json& object) {
  json::object details{{"name", kube::FindString(object, {"metadata", "name"})}};
  if (!info.resource.group.empty()) details["group"] = info.resource.group;
  details["kind"] = info.resource.resource;
  details["uid"] = kube::FindString(object, {"metadata", "uid"});
  return json::object{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", json::object()},
                      {"status", "Success"},
                      {"details", std::move(details)}};
}

}  // namespace

StatusOr<DeleteOptions> ParseDeleteOptions(const Json& given, bool& dry_run) {
  const std::string_view kind = kube::FindString(given, {"kind"});
  if (!kind.empty() && kind != kDeleteOptions) {
    return BadRequest("expected {} in the body, got {}", kDeleteOptions, kind);
  }
  Json checked = given;
  if (const kube::Type* type = kube::FindBuiltinType("v1", kDeleteOptions)) {
    kube::ReportedFields unknown;
    const Status status = kube::Conform(*type, checked, unknown);
    if (!status.ok()) return BadRequest("{}: {}", kDeleteOptions, Message(status));
  }
  DeleteOptions options;
  const Json* grace = kube::Find(checked, {"gracePeriodSeconds"});
  if (grace != nullptr && !grace->is_null()) options.grace_seconds = kube::FindInt(*grace, {});
  const Json* orphan = kube::Find(checked, {"orphanDependents"});
  if (orphan != nullptr && orphan->is_bool()) options.orphan_dependents = orphan->get_bool();
  options.propagation = kube::FindString(checked, {"propagationPolicy"});
  options.uid = kube::FindString(checked, {"preconditions", "uid"});
  options.resource_version = kube::FindString(checked, {"preconditions", "resourceVersion"});
  std::vector<std::string_view> dry_runs;
  if (const json::array* list = kube::FindArray(checked, {"dryRun"})) {
    for (const Json& item : *list) dry_runs.push_back(kube::FindString(item, {}));
  }
  ASSIGN_OR_RETURN(dry_run, ParseDryRun(kDeleteOptions, dry_runs));
  RETURN_IF_ERROR(CheckOptions(options));
  return options;
}

StatusOr<DeleteOptions> ReadDeleteOptions(const Request& request, bool& dry_run) {
  if (request.http.body.empty()) return OptionsFromQuery(request, dry_run);
  ASSIGN_OR_RETURN(const Body body, DecodeBody(request, true));
  return ParseDeleteOptions(body.object, dry_run);
}

void WriteHandlers::Delete(RequestPtr request) {
  WriteOptions write_options;
  const StatusOr<DeleteOptions> options = ReadDeleteOptions(*request, write_options.dry_run);
  if (!options.ok()) return RespondError(core_, *request, options.status());
  writer_.Delete(IntentOf(request, write_options), *options,
                 [this, request, options = *options](StatusOr<Written> written) {
                   if (!written.ok()) return RespondError(core_, *request, written.status());
                   RespondDeleted(request, options, *written);
                 });
}

void WriteHandlers::RespondDeleted(RequestPtr request, const DeleteOptions& options,
                                   const Written& written) {
  const ResourceInfo& info = *request->info;
  if (!written.removed) {
    const bool accepted = options.orphan_dependents && !*options.orphan_dependents;
    return RespondEntry(core_, std::move(request), accepted ? 202 : 200, written.entry);
  }
  if (StrategyOf(info).returns_deleted) {
    return RespondEntry(core_, std::move(request), 200, written.entry);
  }
  core_.WhenDurable(written.entry->revision, [this, request, entry = written.entry] {
    const auto object = kube::ParseJson(entry->value);
    Respond(core_, *request, 200,
            kube::Serialize(DeletedStatus(*request->info, object.ok() ? *object : Json())));
  });
}

void WriteHandlers::DeleteCollection(RequestPtr request) {
  auto work = std::make_shared<CollectionDeletion>();
  StatusOr<DeleteOptions> options = ReadDeleteOptions(*request, work->dry_run);
  if (!options.ok()) return RespondError(core_, *request, options.status());
  const StatusOr<ListOptions> list = ListOptions::ForList(*request);
  if (!list.ok()) return RespondError(core_, *request, list.status());
  const StatusOr<Selection> selection = Selection::Of(*request);
  if (!selection.ok()) return RespondError(core_, *request, selection.status());
  StatusOr<ListPage> page = ReadPage(core_, *request, *list, *selection);
  if (!page.ok()) return RespondError(core_, *request, page.status());
  work->options = std::move(*options);
  work->entries = std::move(page->entries);
  DeleteNext(std::move(request), std::move(work));
}

void WriteHandlers::DeleteNext(RequestPtr request, std::shared_ptr<CollectionDeletion> work) {
  if (work->next == work->entries.size()) {
    work->deleted.revision = core_.store.revision();
    core_.WhenDurable(work->deleted.revision, [this, request, work] {
      Respond(core_, *request, 200, RenderList(core_, *request, work->deleted));
    });
    return;
  }
  const std::string& key = work->entries[work->next++]->key;
  WriteOptions write_options;
  write_options.dry_run = work->dry_run;
  WriteIntent intent = IntentOf(request, write_options);
  const size_t slash = key.find('/');
  intent.ns = slash == std::string::npos ? "" : key.substr(0, slash);
  intent.name = slash == std::string::npos ? key : key.substr(slash + 1);
  writer_.Delete(std::move(intent), work->options,
                 [this, request, work](StatusOr<Written> written) {
                   if (written.ok()) {
                     work->deleted.entries.push_back(written->entry);
                   } else if (!kube::IsNotFound(written.status())) {
                     return RespondError(core_, *request, written.status());
                   }
                   // Not from inside the last one: a collection may be large.
                   core_.Post([this, request, work] { DeleteNext(request, work); });
                 });
}

}  // namespace koord::apiserver
