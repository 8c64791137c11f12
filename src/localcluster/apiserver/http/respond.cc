#include "localcluster/apiserver/http/respond.h"

#include <span>

#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/object_text.h"
#include "localcluster/apiserver/core/versions.h"
#include "localcluster/apiserver/http/warning_headers.h"
#include "localcluster/apiserver/tables/table.h"

namespace koord::apiserver {
namespace {

Metrics::RequestLabels LabelsOf(const Request& request) {
  if (request.info == nullptr) return {request.http.method, "", "", "", ""};
  const kube::Resource& resource = request.info->resource;
  return {request.verb, resource.group, resource.version, resource.resource, request.subresource};
}

void Count(Core& core, const Request& request, int code) {
  core.metrics.CountRequest(LabelsOf(request), code, core.loop.clock().Steady() - request.start);
}

}  // namespace

kube::HttpResponse ResponseHead(const Request& request, int code, std::string_view content_type) {
  kube::HttpResponse response;
  response.status = code;
  response.headers.Add("Content-Type", std::string(content_type));
  response.headers.Add("Cache-Control", "no-cache, private");
  response.headers.Add("Audit-Id", request.audit_id);
  for (std::string& value : WarningValues(request.warnings)) {
    response.headers.Add("Warning", std::move(value));
  }
  return response;
}

void Respond(Core& core, Request& request, int code, std::string body,
             std::string_view content_type) {
  kube::HttpResponse response = ResponseHead(request, code, content_type);
  const bool pretty = content_type == kJson && request.pretty();
  response.body = pretty ? Indented(body) : std::move(body);
  RespondWith(core, request, std::move(response));
}

void RespondWith(Core& core, Request& request, kube::HttpResponse response) {
  Count(core, request, response.status);
  request.writer->Finish(std::move(response));
}

void RespondError(Core& core, Request& request, const Status& status) {
  const kube::ApiError error = ErrorOf(status);
  kube::HttpResponse response = ResponseHead(request, error.code, kJson);
  if (error.retry_after_seconds > 0) {
    response.headers.Add("Retry-After", std::to_string(error.retry_after_seconds));
  }
  response.body = kube::Serialize(error.ToJson());
  if (request.pretty()) response.body = Indented(response.body);
  RespondWith(core, request, std::move(response));
}

void RespondNoSuchPath(Core& core, Request& request) {
  Respond(core, request, 404, "404 page not found\n", kPlainText);
}

void StartStream(Core& core, Request& request) {
  Count(core, request, 200);
  request.writer->StartStream(ResponseHead(request, 200, kJson));
}

void RespondEntry(Core& core, RequestPtr request, int code, EntryPtr entry) {
  const Revision revision = entry->revision;
  core.WhenDurable(revision, [&core, request = std::move(request), code, entry = std::move(entry)] {
    Respond(core, *request, code, RenderEntry(core, *request, *entry));
  });
}

std::string RenderEntry(const Core& core, const Request& request, const Entry& entry) {
  std::string scratch;
  switch (request.output.kind) {
    case Output::Kind::kObject:
      return std::string(TextIn(core, *request.info, entry, scratch));
    case Output::Kind::kPartial:
      return PartialText(entry.value, request.output.version);
    case Output::Kind::kTable:
      break;
  }
  const kube::Json object = LoadObject(core, *request.info, entry);
  TableOptions options = TableOptionsFor(core, request);
  options.metadata = kube::json::object{{"resourceVersion", std::to_string(entry.revision)}};
  const kube::Json* const objects[] = {&object};
  return kube::Serialize(MakeTable(*request.info, objects, options));
}

TableOptions TableOptionsFor(const Core& core, const Request& request) {
  TableOptions options;
  options.version = request.output.version;
  options.now = core.now();
  const std::string_view include = request.query.Get("includeObject");
  if (include == "None") options.include_object = IncludeObject::kNone;
  if (include == "Object") options.include_object = IncludeObject::kObject;
  return options;
}

}  // namespace koord::apiserver
