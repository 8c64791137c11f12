#include "localcluster/apiserver/http/body.h"

#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "kube/resources.h"
#include "kube/schema/protobuf.h"
#include "kube/schema/strict.h"
#include "kube/yaml.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/rules.h"
#include "localcluster/apiserver/registry/field_error.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

Status CannotHandle(const kube::Resource& resource, std::string_view why) {
  return BadRequest("{} in version \"{}\" cannot be handled as a {}: {}", resource.kind,
                    resource.version, resource.kind, why);
}

// The beginning of a body, as the original quotes it: anything that does not look like JSON in hex.
std::string Summary(std::string_view text) {
  constexpr size_t kMost = 30;
  if (text.empty()) return "<empty>";
  const std::string_view start = text.substr(0, kMost);
  std::string summary(text.starts_with('{') ? start : "");
  if (summary.empty()) {
    for (const char c : start) summary += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  return text.size() > kMost ? summary + " ..." : summary;
}

}  // namespace

std::string BodyType(const Request& request) {
  const std::string_view header = request.http.headers.Get("Content-Type");
  if (header.empty()) return "application/json";
  return ToLower(Trim(header.substr(0, header.find(';'))));
}

StatusOr<Body> DecodeBody(const Request& request, bool allow_protobuf) {
  const std::string type = BodyType(request);
  const std::string& text = request.http.body;
  Body body;
  if (type == "application/json") {
    auto parsed = kube::ParseJson(text);
    if (!parsed.ok()) return BadRequest("{}", Message(parsed.status()));
    body.object = std::move(*parsed);
    body.duplicates = kube::FindDuplicateFields(text);
  } else if (type == "application/yaml") {
    auto parsed = kube::ParseYaml(text);
    if (!parsed.ok()) return BadRequest("{}", Message(parsed.status()));
    body.object = std::move(*parsed);
  } else if (type == kProtobuf && allow_protobuf) {
    ASSIGN_OR_RETURN(body.object, kube::DecodeProtobuf(text));
  } else {
    return UnsupportedMediaType(
        "application/json, application/yaml, application/vnd.kubernetes.protobuf");
  }
  if (!body.object.is_object()) return BadRequest("the body must be an object");
  return body;
}

Status CheckKind(const kube::Resource& resource, Json& object) {
  json::object& members = object.as_object();
  const std::string api_version = resource.api_version();
  const std::string_view own_version = kube::FindString(object, {"apiVersion"}, api_version);
  const std::string_view own_kind = kube::FindString(object, {"kind"}, resource.kind);
  if (own_version != api_version && !own_version.empty()) {
    return BadRequest(
        "the API version in the data ({}) does not match the expected API version ({})",
        own_version, api_version);
  }
  if (own_kind != resource.kind && !own_kind.empty()) {
    return BadRequest(
        "{} in version \"{}\" cannot be handled as a {}: converting ({}) to ({}): "
        "unknown conversion",
        own_kind, resource.version, resource.kind, own_kind, resource.kind);
  }
  members["apiVersion"] = api_version;
  members["kind"] = resource.kind;
  return absl::OkStatus();
}

Status CheckKindOfBody(const Request& request, Json& object) {
  const kube::Resource& resource = request.info->resource;
  if (!request.info->custom) return CheckKind(resource, object);
  const std::string_view kind = kube::FindString(object, {"kind"});
  const std::string_view api_version = kube::FindString(object, {"apiVersion"});
  if (kind.empty()) {
    const std::string& text = request.http.body;
    return BadRequest(
        "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in "
        "'{}' ({})",
        resource.kind, text, Summary(text));
  }
  if (api_version != resource.api_version()) {
    return BadRequest(
        "the API version in the data ({}) does not match the expected API version ({})",
        api_version, resource.api_version());
  }
  if (kind != resource.kind) {
    return kube::ToStatus(
        InvalidError(kind, resource.group, kube::FindString(object, {"metadata", "name"}),
                     {Invalid("kind", Json(kind), fmt::format("must be {}", resource.kind))}));
  }
  return absl::OkStatus();
}

Status CheckKindOfApplied(const kube::Resource& resource, Json& object) {
  const std::string_view kind = kube::FindString(object, {"kind"});
  const std::string_view api_version = kube::FindString(object, {"apiVersion"});
  if (kind.empty() || api_version.empty()) {
    const bool has_group = api_version.find('/') != std::string_view::npos;
    return BadRequest("invalid object type: {}{}, Kind={}", has_group ? "" : "/", api_version,
                      kind);
  }
  return CheckKind(resource, object);
}

Status Normalize(const Core& core, const ResourceInfo& info, Json& object,
                 kube::ReportedFields& unknown) {
  if (info.custom) {
    const CustomVersion* version = core.FindCustomVersion(info);
    if (version == nullptr) return UnknownEndpoint();
    unknown = version->schema->Prune(object);
    version->schema->ApplyDefaults(object);
    return absl::OkStatus();
  }
  if (info.type != nullptr) {
    const Status status = kube::Conform(*info.type, object, unknown);
    if (!status.ok()) {
      return CannotHandle(info.resource, fmt::format("{}.{}", info.resource.kind, Message(status)));
    }
  }
  SetBuiltinDefaults(info, object);
  return absl::OkStatus();
}

Status ReportFields(FieldValidation validation, const kube::Resource& resource,
                    const kube::ReportedFields& unknown, const kube::ReportedFields& duplicates,
                    std::vector<std::string>& warnings) {
  if (validation == FieldValidation::kIgnore) return absl::OkStatus();
  std::vector<std::string> texts;
  for (const std::string& path : unknown)
    texts.push_back(fmt::format("unknown field \"{}\"", path));
  for (const std::string& path : duplicates) {
    texts.push_back(fmt::format("duplicate field \"{}\"", path));
  }
  if (texts.empty()) return absl::OkStatus();
  if (const size_t more = unknown.more() + duplicates.more(); more > 0) {
    texts.push_back(fmt::format("and {} more unknown or duplicate fields", more));
  }
  if (validation == FieldValidation::kStrict) {
    return CannotHandle(resource, "strict decoding error: " + Join(texts, ", "));
  }
  std::move(texts.begin(), texts.end(), std::back_inserter(warnings));
  return absl::OkStatus();
}

}  // namespace koord::apiserver
