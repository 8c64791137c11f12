#include "manager/webhook/review/review.h"

#include <utility>

#include "base/strings.h"
#include "kube/codec.h"
#include "kube/patch/json_diff.h"

namespace koord::manager::webhook {
namespace {

using kube::Json;
namespace json = kube::json;

constexpr std::string_view kV1 = "admission.k8s.io/v1";
constexpr std::string_view kV1Beta1 = "admission.k8s.io/v1beta1";

StatusOr<Operation> ParseOperation(std::string_view text) {
  for (const Operation each :
       {Operation::kCreate, Operation::kUpdate, Operation::kDelete, Operation::kConnect}) {
    if (ToString(each) == text) return each;
  }
  return InvalidArgument("request.operation: {} is none of CREATE, UPDATE, DELETE, CONNECT",
                         Quote(text));
}

StatusOr<std::string> Text(const json::object& object, std::string_view member,
                           std::string_view path) {
  const Json* value = object.if_contains(member);
  if (value == nullptr || value->is_null()) return std::string();
  if (!value->is_string()) return InvalidArgument("{}.{}: expected a string", path, member);
  return std::string(std::string_view(value->get_string()));
}

Status ReadUser(const json::object& request, kube::UserInfo& user) {
  const Json* info = request.if_contains("userInfo");
  if (info == nullptr || info->is_null()) return absl::OkStatus();
  if (!info->is_object()) return InvalidArgument("request.userInfo: expected an object");
  ASSIGN_OR_RETURN(user.name, Text(info->get_object(), "username", "request.userInfo"));
  ASSIGN_OR_RETURN(user.uid, Text(info->get_object(), "uid", "request.userInfo"));
  if (const Json* groups = info->get_object().if_contains("groups");
      groups != nullptr && !groups->is_null()) {
    auto list = kube::Decode<std::vector<std::string>>(*groups);
    if (!list.ok()) {
      return InvalidArgument("request.userInfo.groups: {}", Message(list.status()));
    }
    user.groups = *std::move(list);
  }
  return absl::OkStatus();
}

StatusOr<Json> TakeObject(json::object& request, std::string_view member) {
  Json* value = request.if_contains(member);
  if (value == nullptr || value->is_null()) return Json();
  if (!value->is_object()) return InvalidArgument("request.{}: expected an object", member);
  return std::move(*value);
}

StatusOr<Request> ReadRequest(json::object& in) {
  // Moved, not assigned, they stay in the memory of the document.
  ASSIGN_OR_RETURN(Json object, TakeObject(in, "object"));
  ASSIGN_OR_RETURN(Json old_object, TakeObject(in, "oldObject"));
  Request request{.object = std::move(object), .old_object = std::move(old_object)};
  ASSIGN_OR_RETURN(request.uid, Text(in, "uid", "request"));
  ASSIGN_OR_RETURN(const std::string operation, Text(in, "operation", "request"));
  ASSIGN_OR_RETURN(request.operation, ParseOperation(operation));
  if (const Json* resource = in.if_contains("resource");
      resource != nullptr && resource->is_object()) {
    ASSIGN_OR_RETURN(request.group, Text(resource->get_object(), "group", "request.resource"));
    ASSIGN_OR_RETURN(request.resource,
                     Text(resource->get_object(), "resource", "request.resource"));
  }
  ASSIGN_OR_RETURN(request.subresource, Text(in, "subResource", "request"));
  ASSIGN_OR_RETURN(request.name, Text(in, "name", "request"));
  ASSIGN_OR_RETURN(request.ns, Text(in, "namespace", "request"));
  RETURN_IF_ERROR(ReadUser(in, request.user));
  if (const Json* dry_run = in.if_contains("dryRun"); dry_run != nullptr && dry_run->is_bool()) {
    request.dry_run = dry_run->get_bool();
  }
  return request;
}

// application/json, with or without parameters.
bool IsJson(std::string_view content_type) {
  return EqualsIgnoreCase(Trim(content_type.substr(0, content_type.find(';'))), "application/json");
}

}  // namespace

bool Request::IsAbout(std::string_view plural) const {
  return group.empty() && resource == plural && subresource.empty();
}

Response Response::Patched(const Json& before, const Json& after) {
  Json patch = kube::CreateJsonPatch(before, after);
  if (patch.get_array().empty()) return Allowed();
  return {.patch = std::move(patch)};
}

Response Response::Errored(int code, std::string message) {
  return {.allowed = false, .code = code, .message = std::move(message)};
}

Response Response::Denied(std::string message) {
  return {.allowed = false, .code = 403, .message = std::move(message), .reason = "Forbidden"};
}

StatusOr<Review> ReadReview(std::string_view content_type, std::string_view body) {
  if (body.empty()) return InvalidArgument("request body is empty");
  if (!IsJson(content_type)) {
    return InvalidArgument("contentType={}, expected application/json", Quote(content_type));
  }
  ASSIGN_OR_RETURN(Json document, kube::ParseShortLivedJson(body));
  if (!document.is_object()) return InvalidArgument("expected an AdmissionReview object");
  ASSIGN_OR_RETURN(std::string api_version, Text(document.get_object(), "apiVersion", "review"));
  const std::string_view kind = kube::FindString(document, {"kind"});
  if (kind != "AdmissionReview" || (api_version != kV1 && api_version != kV1Beta1)) {
    return InvalidArgument("expected an AdmissionReview of {} or {}, found {} of {}", kV1, kV1Beta1,
                           Quote(kind), Quote(api_version));
  }
  Json* request = kube::Find(document, {"request"});
  if (request == nullptr || !request->is_object()) {
    return InvalidArgument("AdmissionReview without a request");
  }
  ASSIGN_OR_RETURN(Request read, ReadRequest(request->get_object()));
  return Review{.api_version = std::move(api_version), .request = std::move(read)};
}

// Kubernetes cuts warnings beyond 256 characters, and drops those beyond 4096 in all.
std::vector<std::string> BoundedWarnings(const std::vector<std::string>& warnings) {
  constexpr size_t kLongest = 256, kMost = 4096, kRoomForTheLast = 64;
  constexpr std::string_view kCut = "...";
  std::vector<std::string> bounded;
  size_t total = 0;
  for (const std::string& warning : warnings) {
    std::string text = warning;
    if (text.size() > kLongest) {
      size_t end = kLongest - kCut.size();
      while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // of UTF-8
      text.replace(end, text.npos, kCut);
    }
    if (total + text.size() + kRoomForTheLast > kMost) {
      bounded.push_back(fmt::format("{} more warnings", warnings.size() - bounded.size()));
      break;
    }
    total += text.size();
    bounded.push_back(std::move(text));
  }
  return bounded;
}

std::string WriteReview(std::string_view api_version, std::string_view uid,
                        const Response& response) {
  json::object status{{"code", response.code}};
  if (!response.message.empty()) status["message"] = response.message;
  if (!response.reason.empty()) status["reason"] = response.reason;
  json::object answer{{"uid", uid}, {"allowed", response.allowed}, {"status", std::move(status)}};
  if (!response.patch.is_null()) {
    answer["patchType"] = "JSONPatch";
    answer["patch"] = Base64Encode(kube::Serialize(response.patch));
  }
  if (!response.warnings.empty()) {
    const std::vector<std::string> warnings = BoundedWarnings(response.warnings);
    answer["warnings"] = json::array(warnings.begin(), warnings.end());
  }
  return kube::Serialize({{"kind", "AdmissionReview"},
                          {"apiVersion", api_version.empty() ? kV1 : api_version},
                          {"response", std::move(answer)}});
}

}  // namespace koord::manager::webhook
